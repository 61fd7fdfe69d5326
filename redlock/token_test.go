package redlock_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// counters returns a lock's counter on each master, 0 where there is none.
func (c *cluster) counters(name string) (counters []redlock.Token) {
	c.t.Helper()
	for _, text := range c.get(redlock.Command{Name: name}.Counter()) {
		n, err := strconv.ParseUint("0"+text, 10, 64)
		must(c.t, err)
		counters = append(counters, redlock.Token(n))
	}
	return counters
}

// allCount reports whether all masters have counted up to a token.
func (c *cluster) allCount(name string, token redlock.Token) bool {
	c.t.Helper()
	return slices.Min(c.counters(name)) >= token
}

// setCounters gives masters a counter: the first gets the first, and so on.
func (c *cluster) setCounters(name string, counters ...redlock.Token) {
	c.t.Helper()
	for i, n := range counters {
		c.set(redlock.Command{Name: name}.Counter(), strconv.FormatUint(uint64(n), 10), i)
	}
}

func flushAll(ctx context.Context, eye *redis.Client) error { return eye.FlushAll(ctx).Err() }

// Each acquisition is by a new client whose clock is an hour behind the one before, so that its proposals are of no use
// and the counters alone are what makes the tokens increase.
func TestTokensIncreaseWhateverBecomesOfTheLock(t *testing.T) {
	c := masters(t, 5)
	clients := c.clients()
	var client *redlock.Client
	var last redlock.Token
	behindBy := time.Duration(0)
	next := func(t *testing.T) *redlock.Lock {
		t.Helper()
		behind := clock.NewSkewed(clock.System())
		behindBy += time.Hour
		behind.Step(-behindBy)
		client = newClient(t, clients, redlock.WithClock(behind))
		l := take(t, client, "lock")
		if l.Token() <= last {
			t.Errorf("token %d after %d", l.Token(), last)
		}
		last = l.Token()
		return l
	}
	l := next(t)
	// spread makes sure that what is going to be forgotten is known elsewhere (a token may stand on a bare quorum, but an
	// extension tells it to all), and that nothing of the holder is on its way any more.
	spread := func(c *cluster) {
		c.t.Helper()
		eventually(c.t, "all masters know the token", func() bool {
			must(c.t, l.Extend(bounded(c.t)))
			return c.allCount("lock", last)
		})
		must(c.t, client.Close())
	}
	for _, event := range []struct {
		what   string
		happen func(c *cluster)
	}{
		{"released", func(c *cluster) { drop(c.t, l) }},
		{"deleted", func(c *cluster) {
			spread(c)
			c.del("lock")
		}},
		{"expired", func(c *cluster) {
			spread(c)
			c.each(func(ctx context.Context, eye *redis.Client) error {
				return eye.PExpire(ctx, "lock", time.Millisecond).Err()
			})
			c.willBeFree()
		}},
		{"forgotten by two masters", func(c *cluster) {
			spread(c)
			c.each(flushAll, 0, 1)
			drop(c.t, l)
		}},
		{"forgotten by two other masters", func(c *cluster) {
			spread(c)
			c.each(flushAll, 3, 4)
			drop(c.t, l)
		}},
		{"on two masters that were killed", func(c *cluster) {
			spread(c)
			drop(c.t, l)
			for _, node := range c.nodes[1:3] {
				must(c.t, node.Kill(bounded(c.t)))
				must(c.t, node.Restart(bounded(c.t)))
			}
		}},
		{"forgotten by one master and held by it for another", func(c *cluster) {
			spread(c)
			drop(c.t, l)
			c.each(flushAll, 2)
			c.set("lock", "somebody", 2)
		}},
		{"free again there", func(c *cluster) {
			drop(c.t, l)
			c.del("lock", 2)
		}},
		{"counted differently by all", func(c *cluster) {
			spread(c)
			drop(c.t, l)
			c.setCounters("lock", last, last+1, last+2, last+3, last+4)
		}},
		{"extended", func(c *cluster) {
			must(c.t, l.Extend(bounded(c.t)))
			drop(c.t, l)
		}},
	} {
		t.Run(event.what, func(t *testing.T) {
			event.happen(c.in(t))
			l = next(t)
		})
	}
}

func TestAQuorumsMemoryIsEnoughAndProposalsSaveTheRest(t *testing.T) {
	c := masters(t, 5)
	first := take(t, c.client(), "lock")
	drop(t, first)
	eventually(t, "all masters know the token", func() bool { return c.allCount("lock", first.Token()) })
	c.each(flushAll) // all is lost, but the clocks are right
	second := take(t, c.client(), "lock")
	if second.Token() <= first.Token() {
		t.Errorf("token %d after %d", second.Token(), first.Token())
	}
	drop(t, second)
}

func TestUnequalCountersTakeAConfirmationThatReachesAQuorum(t *testing.T) {
	c := masters(t, 5)
	const later = redlock.Token(1 << 52)
	c.setCounters("lock", later, later+10, later+20, later+5, later+15)
	l := take(t, c.client(), "lock")
	if l.Token() <= later {
		t.Errorf("token %d", l.Token())
	}
	know := 0
	for _, n := range c.counters("lock") {
		if n >= l.Token() {
			know++
		}
	}
	if know < 3 {
		t.Errorf("%d masters know the token: %d of %v", know, l.Token(), c.counters("lock"))
	}
	eventually(t, "all masters know the token", func() bool { return c.allCount("lock", l.Token()) })
	drop(t, l)
}

func TestAProposalFarInTheFutureUsesUpNoMoreThanAnHour(t *testing.T) {
	c := masters(t, 5)
	ahead := clock.NewSkewed(clock.System())
	ahead.Step(100 * 365 * 24 * time.Hour)
	l := take(t, c.client(redlock.WithClock(ahead)), "lock")
	limit := time.Now().Add(time.Hour + hang)
	if got := time.UnixMicro(int64(l.Token())); got.After(limit) {
		t.Errorf("the token stands for %v, want at most %v", got, limit)
	}
	drop(t, l)
	next := take(t, c.client(), "lock")
	if next.Token() <= l.Token() {
		t.Errorf("token %d after %d", next.Token(), l.Token())
	}
}

func TestACounterOutlivesItsLockByTheRetention(t *testing.T) {
	c := masters(t, 5)
	left := func(eye *redis.Client) time.Duration { return eye.PTTL(t.Context(), "{lock}:fence").Val() }
	all := func(what string, ok func(left time.Duration) bool) {
		t.Helper()
		eventually(t, what, func() bool {
			for _, eye := range c.eyes {
				if !ok(left(eye)) {
					return false
				}
			}
			return true
		})
	}
	const forever, gone = -1, -2
	full := func(left time.Duration) bool { return left > time.Hour-hang && left <= time.Hour }

	l := take(t, c.client(redlock.WithFenceRetention(time.Hour)), "lock")
	all("the counter has its retention", full)
	for _, eye := range c.eyes {
		must(t, eye.PExpire(t.Context(), "{lock}:fence", time.Minute).Err())
	}
	must(t, l.Extend(bounded(t)))
	all("the counter is kept as long as the lock is extended", full)
	drop(t, l)
	c.willBeFree()

	drop(t, take(t, c.client(redlock.WithFenceRetention(0)), "lock"))
	all("the counter stays for ever", func(left time.Duration) bool { return left == forever })
	c.willBeFree()

	c.del("{lock}:fence")
	short := c.client(redlock.WithTTL(300*time.Millisecond), redlock.WithNodeTimeout(200*time.Millisecond),
		redlock.WithFenceRetention(600*time.Millisecond))
	l, err := short.Acquire(bounded(t), "lock")
	must(t, err)
	l.Release(bounded(t)) // which may come too late
	all("the counter expires", func(left time.Duration) bool { return left == gone })
}

const largest = redlock.Token(1<<53 - 1)

func TestTheLargestTokenIsTheLargestWholeNumberThatLuaHolds(t *testing.T) {
	c := masters(t, 5)
	c.setCounters("lock", largest-1, largest-1, largest-1, largest-1, largest-1)
	client := c.client()
	l := take(t, client, "lock")
	if l.Token() != largest {
		t.Errorf("token %d, want %d", l.Token(), largest)
	}
	must(t, l.Extend(bounded(t)))
	drop(t, l)
	c.willBeFree()
	for range 2 {
		_, err := client.TryAcquire(bounded(t), "lock")
		mustBe(t, err, redlock.ErrNoQuorum)
	}
	c.willBeFree()
	for i, n := range c.counters("lock") {
		if n != largest {
			t.Errorf("master %d counts %d", i, n)
		}
	}
}

func TestACounterThatIsNoneGrantsNothing(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	for what, spoil := range map[string]func(ctx context.Context, eye *redis.Client, key string) error{
		"list": func(ctx context.Context, eye *redis.Client, key string) error { return eye.RPush(ctx, key, 1).Err() },
		"hash": func(ctx context.Context, eye *redis.Client, key string) error {
			return eye.HSet(ctx, key, "a", 1).Err()
		},
		"text":       setTo("many"),
		"empty":      setTo(""),
		"negative":   setTo("-1"),
		"fraction":   setTo("1.5"),
		"huge":       setTo("1e300"),
		"infinite":   setTo("inf"),
		"no number":  setTo("nan"),
		"2^53":       setTo("9007199254740992"),
		"2^64":       setTo("18446744073709551616"),
		"40 digits":  setTo("1234567890123456789012345678901234567890"),
		"with rest":  setTo("12 monkeys"),
		"binary":     setTo("\x00\xff"),
		"first 2^53": setTo(strconv.FormatUint(uint64(largest), 10)),
	} {
		t.Run(what, func(t *testing.T) {
			c := c.in(t)
			key := redlock.Command{Name: what}.Counter()
			c.each(func(ctx context.Context, eye *redis.Client) error { return spoil(ctx, eye, key) }, 0, 1)
			drop(t, take(t, client, what)) // a minority does no harm
			c.willBeFree()
			c.each(func(ctx context.Context, eye *redis.Client) error {
				eye.Del(ctx, key)
				return spoil(ctx, eye, key)
			}, 0, 1, 2)
			_, err := client.TryAcquire(bounded(t), what)
			mustBe(t, err, redlock.ErrNoQuorum)
			if !errors.As(err, new(*redlock.NodeError)) {
				t.Errorf("no *NodeError in %v", err)
			}
			c.willBeFree()
		})
	}
}

func setTo(value string) func(ctx context.Context, eye *redis.Client, key string) error {
	return func(ctx context.Context, eye *redis.Client, key string) error {
		return eye.Set(ctx, key, value, 0).Err()
	}
}
