package redlock_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestReleaseDeletesTheKeyAndNothingElse(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	l, other := take(t, client, "lock"), take(t, client, "other lock")
	drop(t, l)
	c.willHaveRun("other lock")
	eventually(t, "the key is gone, the other's is left", func() bool {
		return c.held("lock") == 0 && c.held("other lock") == 5
	})
	mustBe(t, l.Err(), redlock.ErrReleased)
	mustBe(t, context.Cause(l.Context()), redlock.ErrReleased)
	if left := l.Remaining(); left != 0 {
		t.Errorf("%v are left", left)
	}
	must(t, other.Err())
	drop(t, other)
}

func TestASecondReleaseIsRefused(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	l := take(t, client, "lock")
	drop(t, l)
	mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
	next := take(t, client, "lock")
	mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
	must(t, next.Extend(bounded(t))) // the second release did not touch it
	drop(t, next)
}

func TestReleaseOfAnExpiredLockSaysSo(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	c.willHaveRun("lock")
	c.del("lock")
	mustBe(t, l.Release(bounded(t)), redlock.ErrExpired)
	mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
}

func TestReleaseAfterTheEndOfTheLeaseSaysSo(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(redlock.DefaultTTL)
	mustBe(t, l.Release(t.Context()), redlock.ErrExpired)
	mustBe(t, l.Release(t.Context()), redlock.ErrReleased)
}

func TestReleaseNeverDeletesAnothersLock(t *testing.T) {
	for others := 1; others <= 5; others++ {
		m := newModel(5)
		l := take(t, m.client(t), "lock")
		for i := range others {
			m.put("lock", "somebody", i)
		}
		err := l.Release(t.Context())
		if others >= 3 {
			mustBe(t, err, redlock.ErrLost)
		} else {
			must(t, err)
		}
		if all, theirs := m.holders("lock", "somebody"); all != others || theirs != others {
			t.Errorf("somebody had %d keys; there are %d, %d of them somebody's", others, all, theirs)
		}
	}
}

func TestReleaseNeverDeletesTheLockOfTheNextHolder(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	c.willHaveRun("lock")
	c.del("lock") // it expired
	next := take(t, c.client(), "lock")
	c.willHaveRun("lock")
	eventually(t, "the next holder has all masters", func() bool { return agreeing(c.get("lock")) == 5 })
	held := c.get("lock")
	mustBe(t, l.Release(bounded(t)), redlock.ErrLost)
	if now := c.get("lock"); !slices.Equal(now, held) {
		t.Errorf("the masters hold %q, before %q", now, held)
	}
	must(t, next.Extend(bounded(t)))
	drop(t, next)
}

func TestReleaseWithoutAQuorumMayBeCalledAgain(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	short := redlock.WithNodeTimeout(500 * time.Millisecond)
	for what, fault := range map[string]struct{ begin, end func(node live.Node) error }{
		"stopped": {
			func(node live.Node) error { return node.Pause(bounded(t)) },
			func(node live.Node) error { return node.Resume(bounded(t)) },
		},
		"killed": {
			func(node live.Node) error { return node.Kill(bounded(t)) },
			func(node live.Node) error { return node.Restart(bounded(t)) },
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := c.in(t)
			l := take(t, newClient(t, c.warm(c.clients()), short), what)
			c.willHaveRun(what)
			for _, node := range c.nodes[:3] {
				must(t, fault.begin(node))
			}
			mustBe(t, l.Release(bounded(t)), redlock.ErrNoQuorum)
			mustBe(t, l.Err(), redlock.ErrReleased)
			for _, node := range c.nodes[:3] {
				must(t, fault.end(node))
			}
			eventually(t, "a later Release works", func() bool { return l.Release(bounded(t)) == nil })
			mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
			c.willBeFree()
		})
	}
}

func TestReleaseWhoseRepliesAreLostWorksWhenItIsCalledAgain(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	l := take(t, newClient(t, clients, redlock.WithNodeTimeout(500*time.Millisecond)), "lock")
	c.willHaveRun("lock")
	for _, p := range proxies {
		p.Drop(live.Replies)
	}
	mustBe(t, l.Release(bounded(t)), redlock.ErrNoQuorum)
	c.willBeFree() // it was carried out
	for _, p := range proxies {
		p.Release(live.Replies)
	}
	eventually(t, "it works when it is called again", func() bool { return l.Release(bounded(t)) == nil })
	mustBe(t, l.Release(bounded(t)), redlock.ErrReleased)
}

func TestReleaseReachesMastersThatWereStoppedMeanwhile(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	var unheard atomic.Int32
	l := take(t, spiedOn(t, c.warm(c.clients()), spy{answered: func(cmd redlock.Command, reply redlock.Reply) {
		if cmd.Op == redlock.OpRelease && reply.Err != nil {
			unheard.Add(1)
		}
	}}, redlock.WithNodeTimeout(300*time.Millisecond)), "lock")
	c.willHaveRun("lock")
	c.pause(3, 4)
	drop(t, l)
	eventually(t, "the stopped masters do not confirm", func() bool { return unheard.Load() >= 2 })
	c.resume(3, 4)
	c.willBeFree()
}

func TestConcurrentReleasesAreOne(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	errs := make(chan error)
	for range 10 {
		go func() { errs <- l.Release(context.Background()) }()
	}
	succeeded := 0
	for range 10 {
		err := <-errs
		if err == nil {
			succeeded++
			continue
		}
		mustBe(t, err, redlock.ErrReleased)
	}
	if succeeded != 1 {
		t.Errorf("%d releases succeeded", succeeded)
	}
}

func TestAnExtendThatIsInterruptedByAReleaseSaysSo(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	asking := make(chan struct{}, 1)
	l := take(t, newClient(t, clients), "lock", redlock.WithTrace(&redlock.Trace{
		RoundStarted: func(op redlock.Op, _ string) {
			if op == redlock.OpExtend {
				asking <- struct{}{}
			}
		},
	}))
	c.willHaveRun("lock")
	for _, p := range proxies {
		p.Hold(live.Replies)
	}
	extended, released := make(chan error), make(chan error)
	go func() { extended <- l.Extend(bounded(t)) }()
	<-asking
	go func() { released <- l.Release(bounded(t)) }()
	mustBe(t, <-extended, redlock.ErrReleased)
	for _, p := range proxies {
		p.Release(live.Replies)
	}
	must(t, <-released)
	c.willBeFree()
}

func TestReleaseUnderTheLocksOwnContextWaitsForTheOutcome(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	must(t, l.Release(l.Context()))
	c.willBeFree()
}
