package redlock_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestEveryAttemptDrawsAValueOfItsOwn(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	m.put("lock", "somebody", 0, 1, 2)
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpAcquire && len(m.asked(redlock.OpAcquire)) == 50 {
			m.put("lock", "", 0, 1, 2)
		}
	}
	var granted *redlock.Lock
	acquired := make(chan error, 1)
	go func() {
		var err error
		granted, err = client.Acquire(bounded(t), "lock")
		acquired <- err
	}()
	eventually(t, "the waiting Acquire is granted", func() bool {
		m.clock.Advance(redlock.DefaultRetryMax)
		return len(acquired) > 0
	})
	must(t, <-acquired)
	drop(t, granted)

	var values []string
	for _, cmd := range m.asked(redlock.OpAcquire) {
		values = append(values, cmd.Value)
		if len(cmd.Value) < 20 {
			t.Errorf("value %q is short", cmd.Value)
		}
	}
	if len(values) != 51 {
		t.Errorf("%d attempts, want 51", len(values))
	}
	if slices.Sort(values); len(slices.Compact(values)) != 51 {
		t.Errorf("the values of %d attempts are not all different", len(values))
	}
}

// A spy is Masters that tells what is asked and answered, and may hold either up.
type spy struct {
	redlock.Masters
	asked    func(cmd redlock.Command)
	answered func(cmd redlock.Command, reply redlock.Reply)
}

func spiedOn(t *testing.T, masters []redis.UniversalClient, s spy, opts ...redlock.Option) *redlock.Client {
	t.Helper()
	var err error
	s.Masters, err = redlock.RedisMasters(masters)
	must(t, err)
	client, err := redlock.NewOver(s, patient(opts)...)
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	return client
}

func (s spy) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		if s.asked != nil {
			s.asked(cmd)
		}
		for reply := range s.Masters.Send(ctx, cmd) {
			if s.answered != nil {
				s.answered(cmd, reply)
			}
			if !yield(reply) {
				return
			}
		}
	}
}

// agreeing returns how many masters have the value that most of them have.
func agreeing(values []string) int {
	count := map[string]int{}
	most := 0
	for _, value := range values {
		if value != "" {
			count[value]++
			most = max(most, count[value])
		}
	}
	return most
}

func TestAReleaseThatComesAfterAStallNeverRemovesTheKeyOfTheNextAttempt(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	clients := c.warm(c.clients())
	for round := range 3 {
		name := fmt.Sprint("lock ", round)
		var stalled string         // the value of the attempt that meets the stall
		var confirmed atomic.Int32 // how many masters have confirmed its release
		client := spiedOn(t, clients, spy{
			asked: func(cmd redlock.Command) {
				if stalled == "" {
					stalled = cmd.Value
				}
			},
			answered: func(cmd redlock.Command, reply redlock.Reply) {
				if cmd.Op == redlock.OpRelease && reply.Err == nil && cmd.Value == stalled {
					confirmed.Add(1)
				}
			},
		}, redlock.WithNodeTimeout(300*time.Millisecond))
		c.pause(0, 1, 2)
		_, err := client.TryAcquire(bounded(t), name)
		mustBe(t, err, redlock.ErrNoQuorum)
		c.resume(0, 1, 2)
		l, err := client.Acquire(bounded(t), name) // among the late acquires and releases
		must(t, err)
		eventually(t, "all masters have confirmed the release", func() bool { return confirmed.Load() == 5 })
		if left := agreeing(c.get(name)); left < 3 {
			t.Errorf("the next attempt's key is left on %d masters", left)
		}
		must(t, l.Extend(bounded(t)))
		drop(t, l)
	}
	c.willBeFree()
}

func TestAReleaseThatIsLateOnTheNetworkNeverRemovesTheKeyOfTheNextAttempt(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	client := newClient(t, clients)
	l := take(t, client, "lock")
	c.willHaveRun("lock")
	for _, p := range proxies {
		p.Hold(live.Requests)
	}
	gone, leave := context.WithCancel(bounded(t))
	released := make(chan error)
	go func() { released <- l.Release(gone) }()
	for _, p := range proxies {
		awaitHeld(t, p)
	}
	leave()
	mustBe(t, <-released, context.Canceled)

	c.del("lock") // as if it had expired
	next := take(t, c.client(), "lock")
	eventually(t, "the next attempt is granted everywhere", func() bool { return agreeing(c.get("lock")) == 5 })
	for _, p := range proxies {
		p.Release(live.Requests)
	}
	must(t, client.Close()) // when the late release has been answered
	if left := agreeing(c.get("lock")); left != 5 {
		t.Errorf("the next attempt's key is left on %d masters", left)
	}
	drop(t, next)
}

func TestTheLateReleaseOfAFailedAttemptNeverRemovesTheKeyOfTheSameClientsNextOne(t *testing.T) {
	c := masters(t, 5)
	ctx, leave := context.WithCancel(bounded(t))
	letGo := make(chan struct{})
	client := spiedOn(t, c.clients(), spy{asked: func(cmd redlock.Command) {
		if cmd.Op == redlock.OpRelease {
			leave()
			<-letGo
		}
	}})
	c.set("lock", "somebody", 0, 1, 2)
	_, err := client.TryAcquire(ctx, "lock")
	mustBe(t, err, redlock.ErrHeld)
	c.willHaveRun("lock", 3, 4)

	c.del("lock") // as if all had expired
	l := take(t, client, "lock")
	eventually(t, "the next attempt is granted everywhere", func() bool { return agreeing(c.get("lock")) == 5 })
	close(letGo)
	must(t, client.Close()) // when the late release has been answered
	if left := agreeing(c.get("lock")); left != 5 {
		t.Errorf("the next attempt's key is left on %d masters", left)
	}
	drop(t, l)
}

// The reply is lost, go-redis sends the acquire again, and finds our own value there.
func TestARepeatedAcquireIsNoRival(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	for i := range clients {
		clients[i] = stranger{clients[i]}
	}
	client := newClient(t, clients)
	for _, lost := range []int{1, 3, 5} {
		name := fmt.Sprintf("lock of %d", lost)
		swallowed := make([]int64, lost)
		for i, p := range proxies[:lost] {
			swallowed[i] = p.Stats().Replies.Swallowed
			p.Drop(live.Replies)
		}
		var l *redlock.Lock
		acquired := make(chan error)
		go func() {
			var err error
			l, err = client.TryAcquire(bounded(t), name)
			acquired <- err
		}()
		for i, p := range proxies[:lost] {
			_, err := p.Await(bounded(t), func(s live.Stats) bool { return s.Replies.Swallowed > swallowed[i] })
			must(t, err)
			p.Release(live.Replies) // by which the connection breaks
		}
		must(t, <-acquired)
		if held := c.held(name); held < 3 {
			t.Errorf("%d masters have the lock", held)
		}
		drop(t, l)
		c.willBeFree()
	}
}

func TestAnAcquireWhoseRepliesAreLostIsTakenBack(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	client := newClient(t, clients, redlock.WithNodeTimeout(500*time.Millisecond))
	for _, p := range proxies[:3] {
		p.Drop(live.Replies)
	}
	_, err := client.TryAcquire(bounded(t), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
	c.willHaveRun("lock")
	for _, p := range proxies[:3] {
		p.Release(live.Replies)
	}
	c.willBeFree()
}

func TestACounterIsNotCountedTwiceForARepeatedAcquire(t *testing.T) {
	c := masters(t, 1)
	for i := range 3 {
		run := redlock.Command{
			Op: redlock.OpAcquire, Name: "lock", Value: "one value", Token: 7, TTL: long, Timeout: hang,
		}
		inner, err := redlock.RedisMasters(c.clients())
		must(t, err)
		for reply := range inner.Send(bounded(t), run) {
			if reply.Err != nil || reply.Status != redlock.Done || reply.Counter != 7 {
				t.Errorf("run %d: %+v", i+1, reply)
			}
		}
	}
	c.each(func(ctx context.Context, eye *redis.Client) error {
		if got := eye.Get(ctx, "{lock}:fence").Val(); got != "7" {
			t.Errorf("counter %s", got)
		}
		return nil
	})
}

// A lock that stands on more than a bare quorum survives more: the masters that were too slow to be needed are not left
// out.
func TestAnAcquireReachesAlsoTheMastersThatItDoesNotWaitFor(t *testing.T) {
	c := masters(t, 5)
	clients, slow := c.warm(c.clients()), new(gate)
	clients[4] = hooked(t, c.nodes[4].Addr(), slow)
	client := newClient(t, clients)
	slow.shut()
	take(t, client, "blocker") // by the four; its pipeline blocks the fifth
	eventually(t, "the slow master's pipeline is blocked", slow.blocks)
	l := take(t, client, "lock")
	slow.open()
	eventually(t, "the slow master grants too", func() bool { return agreeing(c.get("lock")) == 5 })
	drop(t, l)
}
