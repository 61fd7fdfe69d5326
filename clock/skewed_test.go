package clock_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"pgregory.net/rapid"
)

func TestASkewedClockBeginsRight(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	for range 3 {
		if s.Now() != v.Now() {
			t.Errorf("%v instead of %v", s.Now(), v.Now())
		}
		v.Advance(time.Second)
		v.StepWall(time.Hour)
	}
}

func TestAStepMovesOnlyTheWallClock(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	s.Step(-time.Hour)
	v.Advance(time.Second)
	now := s.Now()
	if want := noon.Add(time.Second - time.Hour); !now.Wall.Equal(want) || now.Boot != time.Second {
		t.Errorf("an hour behind: %v", now)
	}
	s.Step(2 * time.Hour)
	if want := noon.Add(time.Second + time.Hour); !s.Now().Wall.Equal(want) {
		t.Errorf("an hour ahead: %v", s.Now())
	}
}

func TestASlowClockSleepsTooLong(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	if err := s.SetRate(0.8); err != nil {
		t.Fatal(err)
	}
	var fired bool
	s.AfterFunc(time.Second, func() { fired = true })
	v.Advance(1249 * time.Millisecond)
	if fired {
		t.Error("a second by a clock that is slow by 20 % ended early")
	}
	v.Advance(time.Millisecond)
	if !fired {
		t.Error("a second by a clock that is slow by 20 % is not over after 1.25 s")
	}
	if now := s.Now(); now.Boot != time.Second || !now.Wall.Equal(noon.Add(time.Second)) {
		t.Errorf("reads %v", now)
	}
}

func TestAFrozenWallClockLeavesWaitsToTheOther(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	past := noon.Add(-24 * time.Hour)
	var fired bool
	s.AfterFunc(10*time.Second, func() { fired = true })
	s.Freeze(past)
	v.Advance(5 * time.Second)
	v.StepWall(time.Minute) // the base clock's wall: not ours
	if now := s.Now(); !now.Wall.Equal(past) || now.Boot != 5*time.Second {
		t.Errorf("frozen: %v", now)
	}
	if fired {
		t.Error("a wait ended by a wall clock that does not move")
	}
	v.Advance(5 * time.Second)
	if !fired {
		t.Error("a wait has not ended by the clock that does move")
	}
	s.Step(time.Hour)
	if now := s.Now(); !now.Wall.Equal(past.Add(time.Hour)) {
		t.Errorf("the pin moved to %v", now.Wall)
	}
	s.Thaw()
	v.Advance(time.Second)
	if now := s.Now(); !now.Wall.Equal(past.Add(time.Hour + time.Second)) {
		t.Errorf("thawed: %v", now.Wall)
	}
}

func TestAWallClockFrozenJustBeforeTheEndOfAWaitIsNoBusyLoop(t *testing.T) {
	c := &counting{Clock: clock.NewVirtual(noon)}
	v := c.Clock.(*clock.Virtual)
	inner := clock.NewSkewed(c)
	outer := clock.NewSkewed(inner)
	var ended []time.Duration
	for _, s := range []*clock.Skewed{inner, outer} {
		s.AfterFunc(10*time.Second, func() { ended = append(ended, v.Now().Boot) })
	}
	inner.Freeze(noon.Add(10*time.Second - 1))
	outer.Step(0) // makes it plan with a nanosecond to go, by a clock that is stuck
	v.Advance(time.Minute)
	if len(ended) != 2 || ended[0] != 10*time.Second || ended[1] > 10*time.Second+100*time.Millisecond {
		t.Errorf("waits of 10 s ended at %v", ended)
	}
	if got := c.made.Load(); got > 200 {
		t.Errorf("it took %d timers to wait for 10 s twice", got)
	}
}

func TestARateThatIsNoneIsRefused(t *testing.T) {
	s := clock.NewSkewed(clock.NewVirtual(noon))
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := s.SetRate(rate); err == nil {
			t.Errorf("rate %v was accepted", rate)
		}
	}
	for _, rate := range []float64{math.SmallestNonzeroFloat64, math.MaxFloat64} {
		if err := s.SetRate(rate); err != nil {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

func TestNoRateMakesTheReadingsOverflow(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	if err := s.SetRate(math.MaxFloat64); err != nil {
		t.Fatal(err)
	}
	v.Advance(time.Hour)
	if boot := s.Now().Boot; boot != clock.Forever {
		t.Errorf("boot = %v", boot)
	}
	if err := s.SetRate(math.SmallestNonzeroFloat64); err != nil {
		t.Fatal(err)
	}
	s.AfterFunc(time.Second, func() { t.Error("a second on a clock that stands still is over") })
	v.Advance(time.Hour)
}

// A random history of a skewed clock: whatever is done to it, its readings jump
// only where they are meant to, and a wait is over when its time has passed by
// Reading.Since, neither before nor, but for a microsecond, after.
func TestWaitsFollowTheReadingsWhateverIsDoneToTheClock(t *testing.T) {
	span := func(longest time.Duration) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(1, int64(longest)), func(ns int64) time.Duration { return time.Duration(ns) })
	}
	rapid.Check(t, func(t *rapid.T) {
		v := clock.NewVirtual(noon)
		s := clock.NewSkewed(v)
		type wait struct {
			began clock.Reading
			d     time.Duration
			over  bool
			stop  func() bool
		}
		var waits []*wait
		look := func() {
			v.Advance(1) // for those that a change has made due
			for _, w := range waits {
				// The microsecond is for readings that are cut to whole nanoseconds.
				if passed := s.Now().Since(w.began); !w.over && passed > w.d+time.Microsecond {
					t.Fatalf("a wait of %v goes on after %v", w.d, passed)
				}
			}
		}
		same := func(what string, want, got clock.Reading) {
			if want != got {
				t.Fatalf("%s made the clock jump from %v to %v", what, want, got)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { look() },
			"advance": func(t *rapid.T) {
				v.Advance(span(10*time.Second).Draw(t, "by"))
			},
			"base wall steps": func(t *rapid.T) {
				v.StepWall(span(20*time.Second).Draw(t, "by") - 10*time.Second)
			},
			"wall steps": func(t *rapid.T) {
				before, by := s.Now(), span(20*time.Second).Draw(t, "by")-10*time.Second
				s.Step(by)
				before.Wall = before.Wall.Add(by)
				same("Step", before, s.Now())
			},
			"rate": func(t *rapid.T) {
				before := s.Now()
				if err := s.SetRate(rapid.SampledFrom([]float64{1, 0.8, 1.08, 0.1, 7}).Draw(t, "rate")); err != nil {
					t.Fatal(err)
				}
				same("SetRate", before, s.Now())
			},
			"freeze": func(t *rapid.T) {
				before, at := s.Now(), noon.Add(span(20*time.Second).Draw(t, "at")-10*time.Second)
				s.Freeze(at)
				same("Freeze", clock.Reading{Wall: at, Boot: before.Boot}, s.Now())
			},
			"thaw": func(*rapid.T) {
				before := s.Now()
				s.Thaw()
				same("Thaw", before, s.Now())
			},
			"wait": func(t *rapid.T) {
				w := &wait{began: s.Now(), d: span(20*time.Second).Draw(t, "d")}
				w.stop = s.AfterFunc(w.d, func() {
					if w.over {
						t.Fatalf("a wait of %v is over twice", w.d)
					}
					w.over = true
					if passed := s.Now().Since(w.began); passed < w.d {
						t.Fatalf("a wait of %v is over after %v", w.d, passed)
					}
				})
				waits = append(waits, w)
			},
			"stop": func(t *rapid.T) {
				if len(waits) == 0 {
					return
				}
				w := waits[rapid.IntRange(0, len(waits)-1).Draw(t, "which")]
				if prevented := w.stop(); prevented == w.over {
					t.Fatalf("over %v, prevented %v", w.over, prevented)
				}
				w.over = true
			},
		})
	})
}

func TestASkewedSleeperFollowsAChangeOfItsClock(t *testing.T) {
	v := clock.NewVirtual(noon)
	s := clock.NewSkewed(v)
	slept := make(chan error)
	go func() { slept <- s.Sleep(context.Background(), time.Hour) }()
	for v.Waiters() < 1 {
		runtime.Gosched()
	}
	s.Step(time.Hour)
	v.Advance(1)
	if err := <-slept; err != nil {
		t.Error(err)
	}
}

func TestAStoppedWaitFreesTheTimerOfTheBaseClock(t *testing.T) {
	c := &counting{Clock: clock.NewVirtual(noon)}
	s := clock.NewSkewed(c)
	stop := s.AfterFunc(time.Hour, func() {})
	s.Step(time.Minute)
	if got := c.pending.Load(); got != 1 {
		t.Errorf("%d timers for one wait", got)
	}
	stop()
	if got := c.pending.Load(); got != 0 {
		t.Errorf("%d timers for a wait that was stopped", got)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Sleep(ended, time.Hour); err != context.Canceled {
		t.Error(err)
	}
	if got := c.pending.Load(); got != 0 {
		t.Errorf("%d timers for a sleep that has ended", got)
	}
	made := c.made.Load()
	if err := s.Sleep(ended, clock.Forever); err != context.Canceled || c.made.Load() != made {
		t.Errorf("waiting for a context alone: %v, by %d timers", err, c.made.Load()-made)
	}
}

// tardy is a clock on which stop always comes too late: f has just been started,
// and gets on when the test calls fire.
type tardy struct {
	clock.Clock
	fire func()
}

func (c *tardy) AfterFunc(_ time.Duration, f func()) func() bool {
	c.fire = f
	return func() bool { return false }
}

func TestAStoppedWaitStaysStoppedWhenTheBaseClockHasStartedIt(t *testing.T) {
	c := &tardy{Clock: clock.NewVirtual(noon)}
	s := clock.NewSkewed(c)
	stop := s.AfterFunc(time.Hour, func() { t.Error("ran") })
	s.Step(2 * time.Hour)
	if !stop() {
		t.Error("stop claims that it came too late")
	}
	c.fire()

	var ran int
	stop = s.AfterFunc(time.Hour, func() { ran++ })
	s.Step(2 * time.Hour)
	c.fire()
	if stop() || ran != 1 {
		t.Errorf("ran %d times", ran)
	}
}

func TestASkewedClockMayBeSkewedOnceMore(t *testing.T) {
	v := clock.NewVirtual(noon)
	inner := clock.NewSkewed(v)
	outer := clock.NewSkewed(inner)
	if err := inner.SetRate(0.5); err != nil {
		t.Fatal(err)
	}
	if err := outer.SetRate(0.5); err != nil {
		t.Fatal(err)
	}
	var fired bool
	outer.AfterFunc(time.Second, func() { fired = true })
	v.Advance(4*time.Second - 1)
	if fired {
		t.Error("early")
	}
	v.Advance(1)
	if !fired {
		t.Error("late")
	}
}

func TestASkewedClockIsForManyGoroutines(t *testing.T) {
	s := clock.NewSkewed(clock.System())
	var changers, callers, running sync.WaitGroup
	done := make(chan struct{})
	changers.Go(func() {
		rates := []float64{0.5, 3, 1}
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			s.Step(time.Duration(i%7-3) * time.Microsecond)
			if err := s.SetRate(rates[i%len(rates)]); err != nil {
				t.Error(err)
			}
		}
	})
	var ran, stopped atomic.Int64
	for range 4 {
		callers.Go(func() {
			last := s.Now()
			for i := range 200 {
				running.Add(1)
				stop := s.AfterFunc(time.Duration(i%50)*time.Microsecond, func() { ran.Add(1); running.Done() })
				if i%2 == 0 && stop() {
					stopped.Add(1)
					running.Done()
				}
				now := s.Now()
				if now.Boot < last.Boot {
					t.Errorf("boot went back from %v to %v", last.Boot, now.Boot)
				}
				last = now
			}
		})
	}
	callers.Wait()
	running.Wait()
	close(done)
	changers.Wait()
	if got := ran.Load() + stopped.Load(); got != 4*200 {
		t.Errorf("%d ran and %d were stopped of %d", ran.Load(), stopped.Load(), 4*200)
	}
}

func ExampleSkewed() {
	base := clock.NewVirtual(time.Date(2016, 2, 8, 12, 0, 0, 0, time.UTC))
	slow := clock.NewSkewed(base)
	if err := slow.SetRate(0.8); err != nil {
		fmt.Println(err)
		return
	}
	began := slow.Now()
	base.Advance(10 * time.Second)
	fmt.Println("of a lease of 10 s it has seen", slow.Now().Since(began))
	slow.Step(time.Minute)
	fmt.Println("somebody sets its wall clock, and it has seen", slow.Now().Since(began))
	// Output:
	// of a lease of 10 s it has seen 8s
	// somebody sets its wall clock, and it has seen 1m8s
}
