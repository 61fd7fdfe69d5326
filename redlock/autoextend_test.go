package redlock_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// mustHold wants the lock to stand, by its own word and on the masters.
func mustHold(t *testing.T, m *model, l *redlock.Lock) {
	t.Helper()
	if l.Err() != nil || l.Context().Err() != nil || l.Remaining() <= 0 || m.held(l.Name()) < 3 {
		t.Fatalf("%v, %v, %v left, %d masters hold it", l.Err(), context.Cause(l.Context()), l.Remaining(), m.held(l.Name()))
	}
}

func TestAutoExtendKeepsTheLockUpToItsLimit(t *testing.T) {
	const limit = 65 * time.Second
	m := newModel(5)
	acquired := m.clock.Now()
	l := take(t, m.client(t), "lock", redlock.WithAutoExtend(limit))
	for l.Context().Err() == nil {
		passed := m.clock.Now().Since(acquired)
		mustHold(t, m, l)
		if l.Until().After(acquired.Wall.Add(limit)) {
			t.Fatalf("after %v the lease goes on until %v, beyond the limit", passed, l.Until().Sub(acquired.Wall))
		}
		if passed > limit {
			t.Fatalf("it is still held after %v", passed)
		}
		m.clock.Advance(100 * time.Millisecond)
	}
	if passed := m.clock.Now().Since(acquired); passed < limit-time.Second {
		t.Errorf("it ended after %v", passed)
	}
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	asked := len(m.commands())
	m.clock.Advance(time.Hour)
	if more := m.commands()[asked:]; len(more) > 0 {
		t.Errorf("commands after the end: %+v", more)
	}
}

func TestAutoExtendNeverMovesTheEndBack(t *testing.T) {
	for limit := redlock.DefaultTTL; limit < 2*redlock.DefaultTTL; limit += 1234567 * time.Microsecond {
		m := newModel(5)
		l := take(t, m.client(t), "lock", redlock.WithAutoExtend(limit))
		latest := l.Until().Add(limit - lease)
		for until := l.Until(); l.Context().Err() == nil; until = l.Until() {
			m.clock.Advance(100 * time.Millisecond)
			if l.Until().Before(until) || l.Until().After(latest) {
				t.Fatalf("limit %v: the end moved from %v to %v; the latest is %v", limit, until, l.Until(), latest)
			}
		}
		mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	}
}

func TestALockWithoutAutoExtendIsNotExtended(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(lease)
	mustBe(t, l.Err(), redlock.ErrExpired)
	if extensions := m.asked(redlock.OpExtend); len(extensions) > 0 {
		t.Errorf("extensions: %+v", extensions)
	}
}

func TestAutoExtendRetriesUntilTheOldValidityEnds(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock", redlock.WithAutoExtend(time.Hour))
	until := l.Until()
	m.fate = these(unheard, 0, 1, 2) // three masters die
	for m.clock.Now().Wall.Before(until.Add(-50 * time.Millisecond)) {
		mustHold(t, m, l)
		if !l.Until().Equal(until) {
			t.Fatalf("the lease's end moved from %v to %v", until, l.Until())
		}
		m.clock.Advance(50 * time.Millisecond)
	}
	if tried := len(m.asked(redlock.OpExtend)); tried < 5 {
		t.Errorf("tried %d times", tried)
	}
	m.clock.Advance(l.Remaining() - 1)
	mustHold(t, m, l)
	m.clock.Advance(1)
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	tried := len(m.asked(redlock.OpExtend))
	m.clock.Advance(time.Hour)
	if again := len(m.asked(redlock.OpExtend)); again != tried {
		t.Errorf("tried %d times more after the end", again-tried)
	}
}

func TestAutoExtendGoesOnWhenTheMastersComeBackInTime(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock", redlock.WithAutoExtend(time.Hour))
	for range 5 {
		m.fate = these(unheard, 0, 1, 2)
		m.clock.Advance(6 * time.Second)
		mustHold(t, m, l)
		m.fate = nil
		m.clock.Advance(4 * time.Second)
		mustHold(t, m, l)
	}
}

func TestAutoExtendStopsForGoodWhenTheLockIsLost(t *testing.T) {
	m := newModel(5)
	var lost atomic.Int32
	l := take(t, m.client(t), "lock", redlock.WithAutoExtend(time.Hour),
		redlock.WithTrace(&redlock.Trace{Lost: func(string, error) { lost.Add(1) }}))
	m.put("lock", "somebody", 0, 1, 2)
	m.clock.Advance(5 * time.Second)
	mustBe(t, context.Cause(l.Context()), redlock.ErrLost)
	mustBe(t, l.Err(), redlock.ErrLost)
	m.put("lock", "", 0, 1, 2)
	tried := len(m.asked(redlock.OpExtend))
	m.clock.Advance(time.Hour)
	if again := len(m.asked(redlock.OpExtend)); again != tried || lost.Load() != 1 {
		t.Errorf("tried %d times more; the loss was told %d times", again-tried, lost.Load())
	}
	mustBe(t, l.Err(), redlock.ErrLost)
}

func TestAutoExtendStopsWithRelease(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock", redlock.WithAutoExtend(time.Hour))
	m.clock.Advance(20 * time.Second)
	drop(t, l)
	asked := len(m.commands())
	m.clock.Advance(time.Hour)
	if more := m.commands()[asked:]; len(more) > 0 || m.held("lock") > 0 {
		t.Errorf("commands after the release: %+v; %d masters have the key", more, m.held("lock"))
	}
}

// Extensions and repairs are on their way to real masters, by hand and by the watchdog, when the release comes.
func TestNoKeyReappearsAfterARelease(t *testing.T) {
	c := masters(t, 5)
	watch := clock.NewVirtual(time.Now())
	var over sync.Map // of names that have been released
	client := spiedOn(t, c.clients(), spy{asked: func(cmd redlock.Command) {
		if _, released := over.Load(cmd.Name); released && cmd.Op != redlock.OpRelease {
			t.Errorf("%v of %q after its release", cmd.Op, cmd.Name)
		}
	}}, redlock.WithClock(watch))
	for round := range 500 {
		name := fmt.Sprint("lock ", round)
		l := take(t, client, name, redlock.WithAutoExtend(time.Hour))
		c.del(name, round%5) // which calls for a repair
		var extending sync.WaitGroup
		if round%2 == 0 {
			extending.Go(func() { watch.Advance(long / 3) })
		} else {
			watch.Advance(time.Second)
			extending.Go(func() { l.Extend(context.Background()) })
		}
		if round%3 > 0 {
			extending.Go(func() { l.Extend(context.Background()) })
		}
		drop(t, l)
		over.Store(name, true)
		extending.Wait()
	}
	must(t, client.Close())
	if left := c.locks(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
