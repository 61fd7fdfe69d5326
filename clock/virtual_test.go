package clock_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"pgregory.net/rapid"
)

func TestAVirtualClockStandsStillUntilItIsMoved(t *testing.T) {
	v := clock.NewVirtual(noon)
	began := v.Now()
	if !began.Wall.Equal(noon) || began.Boot != 0 {
		t.Errorf("began at %v", began)
	}
	v.Advance(time.Minute)
	v.Advance(-time.Hour)
	v.StepWall(-time.Second)
	now := v.Now()
	if now.Boot != time.Minute || !now.Wall.Equal(noon.Add(59*time.Second)) {
		t.Errorf("a minute and a step back: %v", now)
	}
}

func TestFunctionsRunInOrderOfDueTimeThenOfCreation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type timer struct {
			order int
			due   time.Duration
		}
		v := clock.NewVirtual(noon)
		var want, got []timer
		for order, ms := range rapid.SliceOf(rapid.IntRange(1, 9)).Draw(t, "timers in ms") {
			this := timer{order, time.Duration(ms) * time.Millisecond}
			want = append(want, this)
			v.AfterFunc(this.due, func() {
				if passed := v.Now().Boot; passed != this.due {
					t.Fatalf("due at %v, ran at %v", this.due, passed)
				}
				got = append(got, this)
			})
		}
		slices.SortStableFunc(want, func(a, b timer) int { return cmp.Compare(a.due, b.due) })
		for v.Now().Boot < 9*time.Millisecond {
			v.Advance(time.Duration(rapid.IntRange(1, 5).Draw(t, "advance in ms")) * time.Millisecond)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("ran %v, want %v", got, want)
		}
	})
}

func TestWhatBecomesDueOnTheWayRunsOnTheWay(t *testing.T) {
	v := clock.NewVirtual(noon)
	var at []time.Duration
	var again func()
	again = func() {
		at = append(at, v.Now().Boot)
		v.AfterFunc(time.Second, again)
	}
	v.AfterFunc(time.Second, again)
	v.Advance(3500 * time.Millisecond)
	if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(at, want) {
		t.Errorf("ran at %v, want %v", at, want)
	}
	if now := v.Now().Boot; now != 3500*time.Millisecond {
		t.Errorf("stands at %v", now)
	}
}

func TestAStepOfTheWallClockRunsWhatItMakesDue(t *testing.T) {
	v := clock.NewVirtual(noon)
	var ran []string
	v.AfterFunc(20*time.Second, func() { ran = append(ran, "20 s from the start") })
	v.Advance(5 * time.Second)
	v.AfterFunc(10*time.Second, func() { ran = append(ran, "10 s from second 5") })
	v.StepWall(-time.Hour)
	v.AfterFunc(10*time.Second, func() { ran = append(ran, "10 s from the step") })

	v.StepWall(10*time.Second - 1)
	if len(ran) != 0 {
		t.Errorf("ran early: %q", ran)
	}
	v.StepWall(1)
	if want := []string{"10 s from the step"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	v.StepWall(time.Hour + 5*time.Second)
	if want := []string{"10 s from the step", "10 s from second 5", "20 s from the start"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if now := v.Now().Boot; now != 5*time.Second {
		t.Errorf("a step of the wall clock has moved boot to %v", now)
	}
}

func TestABackwardStepKeepsTheOtherClocksEnd(t *testing.T) {
	v := clock.NewVirtual(noon)
	var ran bool
	v.AfterFunc(10*time.Second, func() { ran = true })
	v.StepWall(-time.Hour)
	v.Advance(10*time.Second - 1)
	if ran {
		t.Error("ran early")
	}
	v.Advance(1)
	if !ran {
		t.Error("has not run after 10 s of running time")
	}
}

func TestAMoveWakesTheSleepersItMakesDue(t *testing.T) {
	v := clock.NewVirtual(noon)
	woken := make(chan time.Duration)
	for _, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		go func() {
			if err := v.Sleep(context.Background(), d); err != nil {
				t.Error(err)
			}
			woken <- d
		}()
	}
	for v.Waiters() < 3 {
		runtime.Gosched()
	}
	for want := time.Second; want <= 3*time.Second; want += time.Second {
		v.Advance(time.Second)
		if got, left := v.Waiters(), 3-int(want/time.Second); got != left {
			t.Errorf("%d are still parked, want %d", got, left)
		}
		if got := <-woken; got != want {
			t.Errorf("after %v the sleeper of %v woke", want, got)
		}
	}
}

func TestASleeperWhoseContextEndsIsParkedNoMore(t *testing.T) {
	v := clock.NewVirtual(noon)
	for _, d := range []time.Duration{time.Second, clock.Forever} {
		ctx, cancel := context.WithCancel(context.Background())
		slept := make(chan error)
		go func() { slept <- v.Sleep(ctx, d) }()
		for v.Waiters() < 1 {
			runtime.Gosched()
		}
		cancel()
		if err := <-slept; err != context.Canceled {
			t.Errorf("Sleep(%v): %v", d, err)
		}
		if got := v.Waiters(); got != 0 {
			t.Errorf("%d are parked", got)
		}
	}
}

func TestAFunctionMayEndTheGoroutineThatMovesTheClock(t *testing.T) {
	v := clock.NewVirtual(noon)
	v.AfterFunc(time.Second, runtime.Goexit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.Advance(time.Minute)
	}()
	<-ended
	if now := v.Now().Boot; now != time.Second {
		t.Errorf("stands at %v", now)
	}
}

func ExampleVirtual() {
	v := clock.NewVirtual(time.Date(2016, 2, 8, 0, 0, 0, 0, time.UTC))
	v.AfterFunc(10*time.Second, func() { fmt.Println("the lease is over") })
	v.Advance(9 * time.Second)
	fmt.Println("one second to go")
	v.StepWall(time.Minute)
	fmt.Println("boot:", v.Now().Boot)
	// Output:
	// one second to go
	// the lease is over
	// boot: 9s
}
