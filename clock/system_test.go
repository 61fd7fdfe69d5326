package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// machine is a system clock inside a synctest bubble whose two clocks a test can
// move while the timers of package time, like those of a real machine, do not
// notice.
type machine struct {
	*system
	began time.Time
	wall  atomic.Int64 // what the wall clock was stepped by, ns
	asked atomic.Int64 // how many times the clocks were read
	slept atomic.Int64 // how long the machine was suspended, ns
}

func newMachine() *machine {
	m := &machine{began: time.Now()}
	m.system = newSystem(func() Reading {
		m.asked.Add(1)
		now, slept := time.Now(), time.Duration(m.slept.Load())
		return Reading{
			Wall: now.Round(0).Add(slept + time.Duration(m.wall.Load())),
			Boot: now.Sub(m.began) + slept,
		}
	})
	return m
}

// mustRest fails the test if the clock is still at work with nobody waiting.
func (m *machine) mustRest(t *testing.T, pass func(time.Duration)) {
	pass(recheck)
	asked := m.asked.Load()
	pass(time.Hour)
	if got := m.asked.Load() - asked; got != 0 {
		t.Errorf("read the clocks %d times with nothing pending", got)
	}
}

// inMachine hands the test a machine and a way to let time pass on it. What is
// due by then has run when that returns.
func inMachine(t *testing.T, test func(t *testing.T, m *machine, pass func(time.Duration))) {
	synctest.Test(t, func(t *testing.T) {
		test(t, newMachine(), func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		})
	})
}

func TestAForwardStepOfTheWallClockEndsAPendingWait(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		var fired, woken atomic.Bool
		m.AfterFunc(10*time.Second, func() { fired.Store(true) })
		go func() {
			if err := m.Sleep(t.Context(), 10*time.Second); err != nil {
				t.Error(err)
			}
			woken.Store(true)
		}()
		pass(time.Second)
		m.wall.Add(int64(8 * time.Second))
		pass(recheck)
		if fired.Load() || woken.Load() {
			t.Error("ended with 900 ms to go")
		}
		m.wall.Add(int64(time.Second))
		pass(recheck)
		if !fired.Load() || !woken.Load() {
			t.Errorf("still waiting after its end: timer fired %v, sleeper woken %v", fired.Load(), woken.Load())
		}
	})
}

func TestTimeSpentSuspendedCounts(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		var fired, woken atomic.Bool
		m.AfterFunc(10*time.Second, func() { fired.Store(true) })
		go func() {
			if err := m.Sleep(t.Context(), 10*time.Second); err != nil {
				t.Error(err)
			}
			woken.Store(true)
		}()
		pass(time.Second)
		m.slept.Add(int64(time.Hour))
		m.wall.Add(-int64(2 * time.Hour)) // the wall clock alone would not show it
		pass(recheck)
		if !fired.Load() || !woken.Load() {
			t.Errorf("still waiting an hour after its end: timer fired %v, sleeper woken %v", fired.Load(), woken.Load())
		}
	})
}

func TestABackwardStepOfTheWallClockChangesNothing(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		began := time.Now()
		var lasted atomic.Int64
		m.AfterFunc(10*time.Second, func() { lasted.Store(int64(time.Since(began))) })
		pass(time.Second)
		m.wall.Add(-int64(time.Hour))
		pass(time.Minute)
		if got := time.Duration(lasted.Load()); got != 10*time.Second {
			t.Errorf("a wait of 10 s took %v", got)
		}
	})
}

func TestAWaitThatTheClocksEndedCannotBeStopped(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		var ran atomic.Int64
		stop := m.AfterFunc(time.Minute, func() { ran.Add(1) })
		m.wall.Add(int64(time.Hour))
		pass(recheck)
		if stop() {
			t.Error("stop claims to have prevented what has run")
		}
		pass(time.Hour)
		if got := ran.Load(); got != 1 {
			t.Errorf("ran %d times", got)
		}
	})
}

func TestAClockOnWhichNobodyWaitsIsLeftAlone(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		stop := m.AfterFunc(time.Hour, func() { t.Error("ran") })
		pass(time.Second)
		if m.asked.Load() < 10 {
			t.Errorf("a pending wait was compared with the clocks %d times in a second", m.asked.Load())
		}
		stop()
		m.mustRest(t, pass)

		var fired atomic.Bool
		m.AfterFunc(time.Minute, func() { fired.Store(true) })
		m.wall.Add(int64(time.Hour))
		pass(recheck)
		if !fired.Load() {
			t.Error("after a rest, a wait is not compared with the clocks any more")
		}
		m.mustRest(t, pass)
	})
}

func TestASleepThatItsContextEndedLeavesNothingBehind(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		ctx, cancel := context.WithCancel(t.Context())
		slept := make(chan error)
		go func() { slept <- m.Sleep(ctx, time.Hour) }()
		pass(time.Second)
		cancel()
		if err := <-slept; err != context.Canceled {
			t.Error(err)
		}
		m.mustRest(t, pass)
	})
}

func TestSleepingForeverNeverReadsTheClock(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		ctx, cancel := context.WithCancel(t.Context())
		slept := make(chan error)
		go func() { slept <- m.Sleep(ctx, Forever) }()
		pass(1000 * time.Hour)
		if got := m.asked.Load(); got != 0 {
			t.Errorf("read the clock %d times", got)
		}
		cancel()
		if err := <-slept; err != context.Canceled {
			t.Error(err)
		}
	})
}

func TestAWaitEndsWithinARecheckOfItsEndByTheClocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Int64Range(-int64(time.Minute), int64(time.Minute)), 0, 8).Draw(rt, "wall steps")
		sleeps := rapid.SliceOfN(rapid.Int64Range(0, int64(20*time.Second)), 0, 8).Draw(rt, "suspends")
		gaps := rapid.SliceOfN(rapid.Int64Range(0, int64(5*time.Second)), 16, 16).Draw(rt, "gaps")
		d := time.Duration(rapid.Int64Range(1, int64(30*time.Second)).Draw(rt, "d"))
		var complaint string
		inMachine(t, func(_ *testing.T, m *machine, pass func(time.Duration)) {
			began := m.read()
			var fired atomic.Bool
			m.AfterFunc(d, func() {
				fired.Store(true)
				if m.read().Since(began) < d {
					complaint = "ended early"
				}
			})
			for i, gap := range gaps {
				if i%2 == 0 && i/2 < len(steps) {
					m.wall.Add(steps[i/2])
				}
				if i%2 == 1 && i/2 < len(sleeps) {
					m.slept.Add(sleeps[i/2])
				}
				due := m.read().Since(began) >= d
				pass(recheck)
				if due && !fired.Load() {
					complaint = "not over a recheck after its end"
				}
				pass(time.Duration(gap))
			}
			pass(d)
			if !fired.Load() {
				complaint = "never over"
			}
		})
		if complaint != "" {
			rt.Fatalf("a wait of %v: %s", d, complaint)
		}
	})
}

func TestEachFunctionEitherRunsOrIsStopped(t *testing.T) {
	const each = 2000
	s := System()
	var ran, stopped atomic.Int64
	var callers, running sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			for i := range each {
				running.Add(1)
				stop := s.AfterFunc(time.Duration(i%100)*time.Microsecond, func() {
					ran.Add(1)
					running.Done()
				})
				if i%4 != caller && stop() {
					stopped.Add(1)
					running.Done()
				}
			}
		})
	}
	callers.Wait()
	running.Wait()
	if got := ran.Load() + stopped.Load(); got != 4*each {
		t.Errorf("%d ran and %d were stopped of %d", ran.Load(), stopped.Load(), 4*each)
	}
}

func TestStopAndTheClocksNeverBothWin(t *testing.T) {
	inMachine(t, func(t *testing.T, m *machine, pass func(time.Duration)) {
		const n = 500
		var ran, stopped atomic.Int64
		for i := range n {
			stop := m.AfterFunc(time.Second+time.Duration(i%3)*recheck, func() { ran.Add(1) })
			// Stopped at the very moments at which timers fire and checks run.
			time.AfterFunc(time.Duration(i%13)*recheck, func() {
				if stop() {
					stopped.Add(1)
				}
			})
		}
		pass(500 * time.Millisecond)
		m.wall.Add(int64(500 * time.Millisecond))
		pass(time.Minute)
		if ran.Load() == 0 || stopped.Load() == 0 || ran.Load()+stopped.Load() != n {
			t.Errorf("%d ran and %d were stopped of %d", ran.Load(), stopped.Load(), n)
		}
		m.mustRest(t, pass)
	})
}
