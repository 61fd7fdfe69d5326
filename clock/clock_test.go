package clock_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"pgregory.net/rapid"
)

var noon = time.Date(2016, 2, 8, 12, 0, 0, 0, time.UTC)

func TestSinceBelievesTheClockThatSawMoreTime(t *testing.T) {
	began := clock.Reading{Wall: noon, Boot: time.Hour}
	for name, tt := range map[string]struct {
		wall, boot, want time.Duration
	}{
		"both agree":                           {10 * time.Second, 10 * time.Second, 10 * time.Second},
		"the wall clock was set forward":       {time.Hour, 10 * time.Second, time.Hour},
		"the wall clock was set back":          {-time.Hour, 10 * time.Second, 10 * time.Second},
		"the other stood still during suspend": {time.Hour, 0, time.Hour},
		"a reading from before":                {-2 * time.Second, -time.Second, -time.Second},
	} {
		now := clock.Reading{Wall: began.Wall.Add(tt.wall), Boot: began.Boot + tt.boot}
		if got := now.Since(began); got != tt.want {
			t.Errorf("%s: since = %v, want %v", name, got, tt.want)
		}
	}
}

func TestNoStepOfTheWallClockMakesALeaseLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Int64Range(0, int64(100*365*24*time.Hour))
		began := clock.Reading{Wall: noon, Boot: time.Duration(span.Draw(t, "boot"))}
		passed := time.Duration(span.Draw(t, "passed"))
		step := time.Duration(rapid.Int64Range(int64(-100*365*24*time.Hour), int64(100*365*24*time.Hour)).Draw(t, "step"))
		now := began.Add(passed)
		now.Wall = now.Wall.Add(step)
		if got, want := now.Since(began), passed+max(step, 0); got != want {
			t.Fatalf("%v passed, wall stepped by %v: since = %v, want %v", passed, step, got, want)
		}
	})
}

func TestAddStopsAtTheLongestDuration(t *testing.T) {
	late := clock.Reading{Wall: noon, Boot: time.Hour}.Add(clock.Forever)
	if late.Boot != clock.Forever {
		t.Errorf("an hour and forever is %v", late.Boot)
	}
	if early := (clock.Reading{Wall: noon, Boot: -time.Hour}).Add(math.MinInt64); early.Boot != math.MinInt64 {
		t.Errorf("the other way: %v", early.Boot)
	}
	if got := (clock.Reading{Wall: noon}).Add(-time.Second); got.Boot != -time.Second || !got.Wall.Equal(noon.Add(-time.Second)) {
		t.Errorf("a second back is %v", got)
	}
}

// everyClock runs a test over each kind of clock.
func everyClock(t *testing.T, test func(t *testing.T, c clock.Clock)) {
	t.Run("System", func(t *testing.T) { test(t, clock.System()) })
	t.Run("Runtime", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, clock.Runtime()) })
	})
	t.Run("Virtual", func(t *testing.T) { test(t, clock.NewVirtual(noon)) })
	t.Run("Skewed System", func(t *testing.T) { test(t, clock.NewSkewed(clock.System())) })
	t.Run("Skewed Virtual", func(t *testing.T) { test(t, clock.NewSkewed(clock.NewVirtual(noon))) })
}

func TestWallCarriesNoMonotonicPart(t *testing.T) {
	everyClock(t, func(t *testing.T, c clock.Clock) {
		if wall := c.Now().Wall; wall != wall.Round(0) {
			t.Errorf("%v has a monotonic part", wall)
		}
	})
}

func TestASleepOfNothingReturnsAtOnce(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	everyClock(t, func(t *testing.T, c clock.Clock) {
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			if err := c.Sleep(context.Background(), d); err != nil {
				t.Errorf("Sleep(%d): %v", d, err)
			}
			if err := c.Sleep(ended, d); err != context.Canceled {
				t.Errorf("Sleep(%d) on an ended context: %v", d, err)
			}
		}
	})
}

func TestASleepEndsWithItsContext(t *testing.T) {
	everyClock(t, func(t *testing.T, c clock.Clock) {
		for _, d := range []time.Duration{time.Hour, clock.Forever} {
			ctx, cancel := context.WithCancel(context.Background())
			slept := make(chan error)
			go func() { slept <- c.Sleep(ctx, d) }()
			cancel()
			if err := <-slept; err != context.Canceled {
				t.Errorf("Sleep(%v): %v", d, err)
			}
			if err := c.Sleep(ctx, d); err != context.Canceled {
				t.Errorf("Sleep(%v) on an ended context: %v", d, err)
			}
		}
	})
}

func TestAFunctionDueAtOnceRunsOutsideItsCaller(t *testing.T) {
	everyClock(t, func(t *testing.T, c clock.Clock) {
		for _, d := range []time.Duration{0, -time.Second} {
			ran := make(chan struct{})
			handed := make(chan struct{})
			stop := c.AfterFunc(d, func() {
				<-handed
				close(ran)
			})
			close(handed)
			<-ran
			if stop() {
				t.Error("stop claims to have prevented what has run")
			}
		}
	})
}

func TestAStoppedFunctionNeverRuns(t *testing.T) {
	everyClock(t, func(t *testing.T, c clock.Clock) {
		for _, d := range []time.Duration{time.Minute, time.Hour, clock.Forever} {
			stop := c.AfterFunc(d, func() { t.Errorf("AfterFunc(%v) ran", d) })
			if !stop() {
				t.Errorf("AfterFunc(%v): the first stop says that it came too late", d)
			}
			if stop() {
				t.Errorf("AfterFunc(%v): the second stop says that it prevented it", d)
			}
		}
	})
}

func TestAWaitIsNeverShort(t *testing.T) {
	for name, c := range map[string]clock.Clock{"System": clock.System(), "Skewed": clock.NewSkewed(clock.System())} {
		for _, d := range []time.Duration{time.Microsecond, time.Millisecond, 101 * time.Millisecond} {
			began := c.Now()
			if err := c.Sleep(context.Background(), d); err != nil {
				t.Fatal(err)
			}
			if passed := c.Now().Since(began); passed < d {
				t.Errorf("%s: Sleep(%v) returned after %v", name, d, passed)
			}
		}
	}
}

func TestPackageTimeBehavesAsRuntimeSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Runtime()
		began, wall := c.Now(), time.Now()
		if err := c.Sleep(t.Context(), 3*time.Hour); err != nil {
			t.Fatal(err)
		}
		now := c.Now()
		if got := now.Boot - began.Boot; got != 3*time.Hour {
			t.Errorf("boot moved by %v", got)
		}
		if got := now.Wall.Sub(began.Wall); got != 3*time.Hour {
			t.Errorf("wall moved by %v", got)
		}
		if got := time.Since(wall); got != 3*time.Hour {
			t.Errorf("package time moved by %v", got)
		}
	})
}
