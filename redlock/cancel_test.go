package redlock_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A moment is one of a TryAcquire: its k-th call of a trace.
type moment struct {
	question int // 0: before the first
	answer   int // 0: when the question goes out
}

// at returns a trace that does something at that moment, and nothing before or after.
func (m moment) at(do func()) *redlock.Trace {
	now := moment{}
	look := func() {
		if now == m {
			do()
		}
	}
	return &redlock.Trace{
		RoundStarted: func(redlock.Op, string) { now = moment{now.question + 1, 0}; look() },
		NodeAnswered: func(redlock.Op, string, int, time.Duration, error) { now.answer++; look() },
	}
}

func TestACancelledAcquireLeavesNoKeyWheneverItIsCancelled(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	for question := range 3 {
		for answer := range 6 {
			name := fmt.Sprintf("lock %d.%d", question, answer)
			unequal(c, name) // so that there is a second question, the confirmation
			ctx, cancel := context.WithCancel(bounded(t))
			if question == 0 {
				cancel()
			}
			l, err := client.TryAcquire(ctx, name, redlock.WithTrace(moment{question, answer}.at(cancel)))
			cancel()
			if err == nil {
				drop(t, l) // it was cancelled at the last answer that was needed, or never
				continue
			}
			mustBe(t, err, context.Canceled)
		}
	}
	must(t, client.Close())
	if left := c.locks(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// unequal makes the masters count differently for a name, so that a token takes a round of confirmation.
func unequal(c *cluster, name string) {
	counter := redlock.Command{Name: name}.Counter()
	for i := range c.nodes {
		// Later than any clock, or the proposal would be larger than all of them.
		c.set(counter, strconv.FormatInt(time.Now().Add(time.Duration(i+1)*time.Hour).UnixMicro(), 10), i)
	}
}

func TestACancelledAcquireLeavesNoKeyOnASlowNetwork(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	for _, way := range []live.Direction{live.Requests, live.Replies} {
		for slow := 3; slow <= 5; slow++ {
			t.Run(fmt.Sprintf("%d %v held", slow, way), func(t *testing.T) {
				for _, p := range proxies[:slow] {
					p.Hold(way)
				}
				c, name := c.in(t), t.Name()
				client := newClient(t, clients) // its Close waits until nothing is on its way any more
				ctx, cancel := context.WithCancel(bounded(t))
				ended := make(chan error)
				go func() {
					_, err := client.TryAcquire(ctx, name)
					ended <- err
				}()
				for i := range slow {
					if way == live.Requests {
						awaitHeld(t, proxies[i])
					} else {
						c.willHaveRun(name, i)
					}
				}
				cancel()
				mustBe(t, <-ended, context.Canceled)
				for _, p := range proxies {
					p.Release(way)
				}
				for i := range slow {
					c.willHaveRun(name, i)
				}
				c.willBeFree()
			})
		}
	}
}

// awaitHeld waits until a request waits in the proxy.
func awaitHeld(t *testing.T, p *live.Proxy) {
	t.Helper()
	_, err := p.Await(bounded(t), func(s live.Stats) bool { return s.Requests.Held > 0 })
	must(t, err)
}

// passed returns how many bytes of requests have passed each proxy.
func passed(proxies []*live.Proxy) (bytes []int64) {
	for _, p := range proxies {
		bytes = append(bytes, p.Stats().Requests.Passed)
	}
	return bytes
}

// awaitPassed waits until requests have passed the proxies since.
func awaitPassed(t *testing.T, proxies []*live.Proxy, since []int64) {
	t.Helper()
	for i, p := range proxies {
		_, err := p.Await(bounded(t), func(s live.Stats) bool { return s.Requests.Passed > since[i] })
		must(t, err)
	}
}

func TestACancelledAcquireLeavesNoKeyOnAMasterThatWasStopped(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	proxies, clients := c.proxied()
	client := newClient(t, clients, redlock.WithNodeTimeout(500*time.Millisecond))
	c.pause(0, 1, 2)
	before := passed(proxies)
	ctx, cancel := context.WithCancel(bounded(t))
	_, err := client.TryAcquire(ctx, "lock", redlock.WithTrace(moment{1, 2}.at(func() {
		awaitPassed(t, proxies[:3], before)
		cancel()
	})))
	mustBe(t, err, context.Canceled)
	c.resume(0, 1, 2)
	c.willHaveRun("lock")
	c.willBeFree()
}

func TestAFailedTryAcquireLeavesNoKey(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	for round := range 20 {
		name := fmt.Sprint("lock ", round)
		c.set(name, "somebody", 1, 2, 3)
		_, err := client.TryAcquire(bounded(t), name)
		mustBe(t, err, redlock.ErrHeld)
		c.willHaveRun(name, 0, 4)
		eventually(t, "somebody's keys are left alone, and no others are there", func() bool {
			return slices.Equal(c.get(name), []string{"", "somebody", "somebody", "somebody", ""})
		})
	}
}

func TestAFailedTryAcquireHasTakenBackWhatItWasGrantedWhenItReturns(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	m.put("lock", "somebody", 2, 3, 4)
	m.before = func(cmd redlock.Command) {
		for range 1000 * int(cmd.Op) { // a slow release: who does not wait for it goes on meanwhile
			runtime.Gosched()
		}
	}
	_, err := client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrHeld)
	if all, theirs := m.holders("lock", "somebody"); all != 3 || theirs != 3 {
		t.Errorf("%d masters have a key, %d of them somebody's", all, theirs)
	}
}

func TestReleaseDeletesTheLockAlsoUnderACancelledContext(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	l := take(t, client, "lock")
	ctx, cancel := context.WithCancel(bounded(t))
	cancel()
	if err := l.Release(ctx); err != nil {
		mustBe(t, err, context.Canceled)
	}
	c.willBeFree()
	mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
}

// A master that is stopped during a failed acquire runs it when it goes on: the lock would stay for a whole TTL. Here it
// is stopped for so long that the first release of the failed attempt is lost on it as well.
func TestALateAcquireIsTakenBackSoonAfterItsMasterGoesOn(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	var unheard atomic.Int32
	client := spiedOn(t, c.warm(c.clients()), spy{answered: func(cmd redlock.Command, reply redlock.Reply) {
		if cmd.Op == redlock.OpRelease && reply.Err != nil {
			unheard.Add(1)
		}
	}}, redlock.WithNodeTimeout(300*time.Millisecond))
	c.pause(0, 1, 2)
	_, err := client.TryAcquire(bounded(t), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
	eventually(t, "the stopped masters do not confirm the release", func() bool { return unheard.Load() >= 3 })
	c.resume(0, 1, 2)
	c.willHaveRun("lock")
	c.willBeFree()
}

// An acquire that was given up may be on its way over a connection that nobody listens to any more, and be overtaken by
// its release, which finds nothing.
func TestAnAcquireThatArrivesAfterItsReleaseIsTakenBackToo(t *testing.T) {
	m := newModel(5)
	lost := these(unheard, 0, 1, 2)
	m.fate = func(node int, cmd redlock.Command) outcome {
		if cmd.Op == redlock.OpAcquire {
			return lost(node, cmd)
		}
		return obeyed
	}
	client := m.client(t)
	_, err := client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
	eventually(t, "the release has been answered", func() bool { return m.clock.Waiters() > 0 })
	late := m.asked(redlock.OpAcquire)[0]
	late.Nodes = []int{0, 1, 2}
	m.mu.Lock()
	for _, node := range late.Nodes {
		m.run(node, late)
	}
	m.mu.Unlock()
	eventually(t, "it is taken back", func() bool {
		m.clock.Advance(10 * time.Millisecond)
		return m.held("lock") == 0
	})
	if passed := m.clock.Now().Boot; passed > redlock.DefaultTTL/2 {
		t.Errorf("it was taken back after %v", passed)
	}
}
