package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// lease is what is left of a TTL of 10 s after a drift of 1 % and 2 ms.
const lease = 10*time.Second - 100*time.Millisecond - 2*time.Millisecond

// mustHaveUndone wants a failed attempt to have asked all masters to take back its key, and none to have it.
func mustHaveUndone(t *testing.T, m *model, name string) {
	t.Helper()
	if undone := m.asked(redlock.OpRelease); len(undone) != 1 || len(undone[0].Nodes) != m.Len() {
		t.Errorf("releases: %+v", undone)
	}
	if held := m.held(name); held != 0 {
		t.Errorf("%d masters have the key", held)
	}
}

func TestGrantsThatCameTooLateAreNoLock(t *testing.T) {
	for took, ok := range map[time.Duration]bool{
		0:          true,
		lease - 1:  true,
		lease:      false,
		lease + 1:  false,
		time.Hour:  false,
		-time.Hour: true, // the wall clock was set back meanwhile
	} {
		t.Run(took.String(), func(t *testing.T) {
			m := newModel(5)
			m.before = func(cmd redlock.Command) {
				if cmd.Op == redlock.OpAcquire {
					m.clock.Advance(took)
					m.clock.StepWall(min(took, 0))
				}
			}
			l, err := m.client(t).TryAcquire(t.Context(), "lock")
			if ok {
				must(t, err)
				if left := l.Remaining(); left != lease-max(took, 0) {
					t.Errorf("%v are left", left)
				}
				return
			}
			mustBe(t, err, redlock.ErrExpired)
			mustHaveUndone(t, m, "lock")
		})
	}
}

func TestAConfirmationThatCameTooLateIsNoLock(t *testing.T) {
	for took, ok := range map[time.Duration]bool{lease - 1: true, lease: false, lease + 1: false} {
		t.Run(took.String(), func(t *testing.T) {
			m := newModel(5)
			m.counters[0]["{lock}:fence"] = 1 << 52 // so that the token has to be confirmed
			m.before = func(cmd redlock.Command) {
				if cmd.Op == redlock.OpConfirm {
					m.clock.Advance(took)
				}
			}
			l, err := m.client(t).TryAcquire(t.Context(), "lock")
			if len(m.asked(redlock.OpConfirm)) != 1 {
				t.Errorf("confirmations: %+v", m.asked(redlock.OpConfirm))
			}
			if ok {
				must(t, err)
				if left := l.Remaining(); left != 1 {
					t.Errorf("%v are left", left)
				}
				return
			}
			mustBe(t, err, redlock.ErrExpired)
			mustHaveUndone(t, m, "lock")
		})
	}
}

func TestNothingIsConfirmedWhenItIsTooLateAnyhow(t *testing.T) {
	m := newModel(5)
	m.counters[0]["{lock}:fence"] = 1 << 52
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpAcquire {
			m.clock.Advance(lease)
		}
	}
	_, err := m.client(t).TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrExpired)
	if confirmed := m.asked(redlock.OpConfirm); len(confirmed) > 0 {
		t.Errorf("confirmations: %+v", confirmed)
	}
	mustHaveUndone(t, m, "lock")
}

// A creeping clock moves on whenever somebody looks at it: time passes between any two steps.
type creeping struct {
	*clock.Virtual
	by   time.Duration
	last *clock.Reading
}

func (c creeping) Now() clock.Reading {
	c.Advance(c.by)
	*c.last = c.Virtual.Now()
	return *c.last
}

func TestNoLockIsReturnedWhoseEndIsInThePast(t *testing.T) {
	granted, refused := 0, 0
	for by := 100 * time.Millisecond; by < 12*time.Second; by += 50 * time.Millisecond {
		m := newModel(5)
		m.counters[0]["{lock}:fence"] = 1 << 52
		slow := creeping{m.clock, by, new(clock.Reading)}
		client, err := redlock.NewOver(m, redlock.WithClock(slow))
		must(t, err)
		l, err := client.TryAcquire(t.Context(), "lock")
		if err != nil {
			mustBe(t, err, redlock.ErrExpired)
			refused++
			continue
		}
		granted++
		if looked := slow.last.Wall; !l.Until().After(looked) {
			t.Errorf("at steps of %v: the lease ends at %v, and the clock read %v", by, l.Until(), looked)
		}
	}
	if granted == 0 || refused == 0 {
		t.Errorf("%d granted, %d refused: the test shows nothing", granted, refused)
	}
}

// The lease counts from before the winning attempt, not from the call to Acquire.
func TestALeaseCountsFromItsOwnAttempt(t *testing.T) {
	m := newModel(5)
	m.put("lock", "somebody", 0, 1, 2)
	var asked []clock.Reading
	m.before = func(cmd redlock.Command) {
		if cmd.Op == redlock.OpAcquire {
			asked = append(asked, m.clock.Now())
			m.clock.Advance(3 * time.Second)
		}
		if len(asked) == 8 {
			m.put("lock", "", 0, 1, 2)
		}
	}
	acquired := make(chan *redlock.Lock, 1)
	go func() {
		l, err := m.client(t).Acquire(t.Context(), "lock")
		if err != nil {
			t.Error(err)
		}
		acquired <- l
	}()
	eventually(t, "the waiting Acquire is granted", func() bool {
		if m.clock.Waiters() > 0 {
			m.clock.Advance(redlock.DefaultRetryMax)
		}
		return len(acquired) > 0
	})
	l := <-acquired
	if want := asked[len(asked)-1].Wall.Add(lease); !l.Until().Equal(want) {
		t.Errorf("the lease ends at %v, want %v", l.Until(), want)
	}
}

func TestTheContextEndsByItselfAtTheEndOfValidity(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock")
	m.clock.Advance(lease - 1)
	if l.Context().Err() != nil || l.Err() != nil || l.Remaining() != 1 {
		t.Errorf("before the end: %v, %v, %v left", l.Context().Err(), l.Err(), l.Remaining())
	}
	m.clock.Advance(1)
	if l.Context().Err() == nil || l.Remaining() != 0 {
		t.Errorf("at the end: %v, %v left", l.Context().Err(), l.Remaining())
	}
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	mustBe(t, l.Err(), redlock.ErrExpired)
	m.clock.StepWall(-time.Hour)
	mustBe(t, l.Err(), redlock.ErrExpired) // never taken back
}

func TestAClientWhoseWallClockIsWrongIsGrantedTheSameLease(t *testing.T) {
	c := masters(t, 5)
	for _, off := range []time.Duration{0, time.Hour, -time.Hour, 24 * 365 * time.Hour, -50 * 24 * 365 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			c := c.in(t)
			wrong := clock.NewSkewed(clock.System())
			wrong.Step(off)
			client := c.client(redlock.WithClock(wrong))
			l := take(t, client, "lock")
			if left := l.Remaining(); left <= long-hang || left > long {
				t.Errorf("%v are left of a TTL of %v", left, long)
			}
			if until := time.Until(l.Until()) - off; until <= long-hang || until > long {
				t.Errorf("it ends in %v by its own clock", until)
			}
			must(t, l.Extend(bounded(t)))
			drop(t, l)
		})
	}
}

func TestAStepOfTheWallClockUnderALockCanOnlyShortenIt(t *testing.T) {
	m := newModel(5)
	wall := clock.NewSkewed(m.clock)
	client := m.client(t, redlock.WithClock(wall))

	l := take(t, client, "lock")
	wall.Step(-time.Hour)
	if left := l.Remaining(); left != lease {
		t.Errorf("after a step back %v are left", left)
	}
	wall.Step(time.Hour + time.Second)
	if left := l.Remaining(); left != lease-time.Second {
		t.Errorf("after a step forward of 1 s %v are left", left)
	}
	m.clock.Advance(lease - time.Second)
	mustBe(t, l.Err(), redlock.ErrExpired)

	l = take(t, client, "another lock")
	wall.Step(-time.Hour)
	m.clock.Advance(lease - 1)
	if err := l.Context().Err(); err != nil {
		t.Errorf("a step back shortens the lease: %v", err)
	}
	m.clock.Advance(1)
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)

	l = take(t, client, "third lock")
	wall.Step(time.Hour)
	eventually(t, "a step forward beyond the end ends the lock", func() bool {
		m.clock.Advance(1) // the step is seen when the clock moves on
		return l.Context().Err() != nil
	})
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
}
