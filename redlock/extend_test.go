package redlock_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestExtendProlongsTheLeaseFromNow(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	token, until := l.Token(), l.Until()
	for range 10 {
		m.clock.Advance(6 * time.Second)
		must(t, l.Extend(t.Context()))
		if until = until.Add(6 * time.Second); !l.Until().Equal(until) || l.Remaining() != lease {
			t.Errorf("it ends at %v, in %v; want %v, %v", l.Until(), l.Remaining(), until, lease)
		}
		if m.held("lock") != 5 || l.Err() != nil || l.Context().Err() != nil || l.Token() != token {
			t.Errorf("%d masters hold it: %v, %v, token %d", m.held("lock"), l.Err(), l.Context().Err(), l.Token())
		}
	}
	m.clock.Advance(lease)
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
}

func TestExtendAfterExpiryEverywhereCreatesNoKey(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	c.willHaveRun("lock")
	c.del("lock") // the masters' clocks ran ahead of ours
	mustBe(t, l.Extend(bounded(t)), redlock.ErrExpired)
	mustBe(t, l.Err(), redlock.ErrExpired)
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	mustBe(t, l.Extend(bounded(t)), redlock.ErrExpired)
	if held := c.held("lock"); held != 0 {
		t.Errorf("%d masters have the key", held)
	}
}

func TestExtendOfALeaseThatHasEndedAsksNobody(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(lease)
	mustBe(t, l.Extend(t.Context()), redlock.ErrExpired)
	if asked := m.asked(redlock.OpExtend); len(asked) > 0 {
		t.Errorf("asked: %+v", asked)
	}
}

func TestAnExtensionThatIsGrantedAfterTheOldEndIsNone(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(lease - time.Second)
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpExtend {
			m.clock.Advance(time.Second) // the old lease ends while we ask
		}
	}
	mustBe(t, l.Extend(t.Context()), redlock.ErrExpired)
	mustBe(t, l.Err(), redlock.ErrExpired)
}

func TestExtendThatMeetsAnothersValueOnAQuorumEndsTheLockOnce(t *testing.T) {
	c := masters(t, 5)
	var lost atomic.Int32
	l := take(t, c.client(), "lock", redlock.WithTrace(&redlock.Trace{
		Lost: func(string, error) { lost.Add(1) },
	}))
	c.willHaveRun("lock")
	c.set("lock", "somebody", 1, 2, 3)
	for range 3 {
		mustBe(t, l.Extend(bounded(t)), redlock.ErrLost)
	}
	<-l.Context().Done()
	mustBe(t, context.Cause(l.Context()), redlock.ErrLost)
	c.del("lock", 1, 2, 3)
	mustBe(t, l.Extend(bounded(t)), redlock.ErrLost) // never taken back
	mustBe(t, l.Err(), redlock.ErrLost)
	if lost.Load() != 1 {
		t.Errorf("the loss was told %d times", lost.Load())
	}
}

func TestAnothersValueOnAMinorityDoesNoHarm(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	c.willHaveRun("lock")
	c.set("lock", "somebody", 0, 4)
	for range 3 {
		must(t, l.Extend(bounded(t)))
	}
	if values := c.get("lock"); values[0] != "somebody" || values[4] != "somebody" || agreeing(values) != 3 {
		t.Errorf("the masters hold %q", values)
	}
	drop(t, l)
	eventually(t, "only the other's keys are left", func() bool {
		return slices.Equal(c.get("lock"), []string{"somebody", "", "", "", "somebody"})
	})
}

func TestExtendUnderTroubleKeepsTheOldLeaseAndMayBeTriedAgain(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	client := newClient(t, c.warm(c.clients()), redlock.WithNodeTimeout(500*time.Millisecond))
	l := take(t, client, "lock")
	c.willHaveRun("lock")
	c.pause(0, 1)
	must(t, l.Extend(bounded(t)))
	must(t, l.Extend(bounded(t)))
	c.pause(2)
	until := l.Until()
	mustBe(t, l.Extend(bounded(t)), redlock.ErrNoQuorum)
	if l.Err() != nil || l.Context().Err() != nil || !l.Until().Equal(until) {
		t.Errorf("the old lease does not stand: %v, %v, until %v instead of %v", l.Err(), l.Context().Err(), l.Until(), until)
	}
	c.resume(2)
	eventually(t, "a later Extend works", func() bool { return l.Extend(bounded(t)) == nil })
	if !l.Until().After(until) {
		t.Errorf("it ends at %v, before at %v", l.Until(), until)
	}
	c.resume(0, 1)
	drop(t, l)
	c.willBeFree()
}

func TestExtendAfterReleaseIsRefused(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	drop(t, l)
	mustBe(t, l.Extend(bounded(t)), redlock.ErrReleased)
	c.willBeFree()
}

func TestExtendUnderACancelledContextAsksNobody(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	mustBe(t, l.Extend(ctx), context.Canceled)
	if asked := m.asked(redlock.OpExtend); len(asked) > 0 {
		t.Errorf("asked: %+v", asked)
	}
	if l.Err() != nil || l.Remaining() != lease-time.Second {
		t.Errorf("%v, %v are left", l.Err(), l.Remaining())
	}
}

func TestAMasterThatLostTheKeyGetsItBackWhenAQuorumStillHadIt(t *testing.T) {
	c := masters(t, 5)
	l := take(t, c.client(), "lock")
	eventually(t, "all masters grant", func() bool { return agreeing(c.get("lock")) == 5 })
	value := c.get("lock")[0]
	c.each(flushAll, 1, 3) // the counters too
	must(t, l.Extend(bounded(t)))
	eventually(t, "the two have the key again", func() bool { return agreeing(c.get("lock")) == 5 })
	if got := c.get("lock"); got[1] != value || got[3] != value {
		t.Errorf("the masters hold %q, want %q", got, value)
	}
	for i, n := range c.counters("lock") {
		if n < l.Token() {
			t.Errorf("master %d counts %d, below the token %d", i, n, l.Token())
		}
	}
	for i, eye := range c.eyes {
		if left := eye.PTTL(t.Context(), "lock").Val(); left <= long-hang || left > long {
			t.Errorf("master %d keeps the lock for %v", i, left)
		}
	}
	drop(t, l)
	c.willBeFree()
}

// The lock stands on a bare quorum; one of that restarts empty. Two that match and three that could be repaired are no
// quorum: somebody else may have been granted what they hold meanwhile, and lost it again.
func TestRepairedMastersDoNotCountForTheQuorumThatRepairsThem(t *testing.T) {
	for _, matching := range []int{2, 1, 0} {
		m := newModel(5)
		l := take(t, m.client(t), "lock")
		m.clock.Advance(time.Second)
		for i := matching; i < 5; i++ {
			m.put("lock", "", i)
		}
		mustBe(t, l.Extend(t.Context()), redlock.ErrExpired)
		mustBe(t, l.Err(), redlock.ErrExpired)
		if held, repairs := m.held("lock"), m.asked(redlock.OpRepair); held != matching || len(repairs) > 0 {
			t.Errorf("%d matching: then %d, repairs: %+v", matching, held, repairs)
		}
	}
}

func TestALockOnABareQuorumIsNotExtendedWhenOneOfThatRestartsEmpty(t *testing.T) {
	c := masters(t, 5)
	proxies, clients := c.proxied()
	client := newClient(t, clients)
	for _, p := range proxies[3:] {
		p.Cut()
	}
	l := take(t, client, "lock")
	for _, p := range proxies[3:] {
		_, err := p.Await(bounded(t), func(s live.Stats) bool { return s.Requests.Swallowed > 0 })
		must(t, err)
		p.Heal()
	}
	c.willHaveRun("lock", 0, 1, 2)
	must(t, c.nodes[0].Kill(bounded(t)))
	must(t, c.nodes[0].Restart(bounded(t)))
	if held := c.held("lock"); held != 2 {
		t.Fatalf("%d masters have the key, want 2", held)
	}
	eventually(t, "the masters that can be reached again say no", func() bool {
		err := l.Extend(bounded(t))
		if err == nil {
			t.Fatal("it was extended")
		}
		return errors.Is(err, redlock.ErrExpired)
	})
	mustBe(t, l.Err(), redlock.ErrExpired)
	if held := c.held("lock"); held != 2 {
		t.Errorf("%d masters have the key, want the 2 that never lost it", held)
	}
}

func TestNoRepairOverwritesAnother(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(time.Second)
	m.put("lock", "", 4)
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpRepair {
			m.put("lock", "somebody", 4) // just before us
		}
	}
	must(t, l.Extend(t.Context()))
	eventually(t, "it tries to repair", func() bool { return len(m.asked(redlock.OpRepair)) == 1 })
	if all, theirs := m.holders("lock", "somebody"); all != 5 || theirs != 1 {
		t.Errorf("%d masters have a key, %d of them somebody's", all, theirs)
	}
}

func TestARepairedKeyLastsNoLongerThanTheLeaseThatItRepairs(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(time.Second)
	m.put("lock", "", 4)
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpExtend {
			m.clock.Advance(2 * time.Second)
		}
	}
	must(t, l.Extend(t.Context()))
	eventually(t, "it repairs", func() bool { return len(m.asked(redlock.OpRepair)) == 1 })
	repair := m.asked(redlock.OpRepair)[0]
	if repair.TTL != 8*time.Second || !slices.Equal(repair.Nodes, []int{4}) || repair.Token != l.Token() {
		t.Errorf("repair: %+v", repair)
	}
}
