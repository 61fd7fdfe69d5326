package clock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

func TestATimeoutEndsItsContextByItsClock(t *testing.T) {
	v := clock.NewVirtual(noon)
	ctx, cancel := clock.WithTimeout(context.Background(), v, 10*time.Second)
	defer cancel()
	derived, cancelDerived := context.WithCancel(context.WithValue(ctx, t, 1))
	defer cancelDerived()

	v.Advance(10*time.Second - 1)
	if ctx.Err() != nil || context.Cause(ctx) != nil || derived.Err() != nil {
		t.Fatalf("ended early: %v, %v, %v", ctx.Err(), context.Cause(ctx), derived.Err())
	}
	v.Advance(1)
	select {
	case <-ctx.Done():
	default:
		t.Fatal("not done when Advance has returned")
	}
	if err := ctx.Err(); err != context.DeadlineExceeded {
		t.Errorf("err = %v", err)
	}
	if derived.Err() == nil {
		t.Error("a derived context goes on")
	}
	for _, c := range []context.Context{ctx, derived} {
		if cause := context.Cause(c); cause != context.DeadlineExceeded {
			t.Errorf("cause = %v", cause)
		}
	}
	cancel()
	if err := ctx.Err(); err != context.DeadlineExceeded {
		t.Errorf("a late cancel has changed the error to %v", err)
	}
	if err := func() error { ctx, cancel := context.WithCancel(ctx); defer cancel(); return ctx.Err() }(); err != context.DeadlineExceeded {
		t.Errorf("a context derived after the end says %v", err)
	}
}

func TestATimeoutInsideATimeoutReportsTheDeadlineToo(t *testing.T) {
	v := clock.NewVirtual(noon)
	outer, cancelOuter := clock.WithTimeout(context.Background(), v, time.Second)
	defer cancelOuter()
	inner, cancelInner := clock.WithTimeout(outer, v, time.Minute)
	defer cancelInner()
	v.Advance(time.Second)
	if err := inner.Err(); err != context.DeadlineExceeded {
		t.Errorf("err = %v", err)
	}
}

func TestWhatEndsATimeoutHasEndedItBeforeItReturns(t *testing.T) {
	lost := errors.New("lost")
	for name, tt := range map[string]struct {
		end   func(v *clock.Virtual, parent context.CancelCauseFunc, own context.CancelFunc)
		err   error
		cause error
	}{
		"its clock":  {func(v *clock.Virtual, _ context.CancelCauseFunc, _ context.CancelFunc) { v.Advance(time.Hour) }, context.DeadlineExceeded, context.DeadlineExceeded},
		"its parent": {func(_ *clock.Virtual, parent context.CancelCauseFunc, _ context.CancelFunc) { parent(lost) }, context.Canceled, lost},
		"its cancel": {func(_ *clock.Virtual, _ context.CancelCauseFunc, own context.CancelFunc) { own() }, context.Canceled, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			v := clock.NewVirtual(noon)
			parent, endParent := context.WithCancelCause(context.Background())
			ctx, cancel := clock.WithTimeout(parent, v, time.Minute)
			derived, cancelDerived := context.WithCancel(ctx)
			tt.end(v, endParent, cancel)
			if ctx.Err() != tt.err || context.Cause(ctx) != tt.cause {
				t.Errorf("err = %v, cause = %v", ctx.Err(), context.Cause(ctx))
			}
			if derived.Err() == nil || context.Cause(derived) != tt.cause {
				t.Errorf("derived: err = %v, cause = %v", derived.Err(), context.Cause(derived))
			}
			v.Advance(time.Hour)
			if ctx.Err() != tt.err {
				t.Errorf("later, err = %v", ctx.Err())
			}
			cancelDerived()
			cancel()
			endParent(nil)
		})
	}
}

func TestATimeoutOfNothingHasEndedFromTheStart(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		ctx, cancel := clock.WithTimeout(context.Background(), clock.NewVirtual(noon), d)
		if err := ctx.Err(); err != context.DeadlineExceeded {
			t.Errorf("WithTimeout(%v): err = %v", d, err)
		}
		cancel()
	}
}

// A goroutine left behind in the bubble would make synctest fail the test.
func TestAWaitingTimeoutHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, end := context.WithCancel(context.Background())
		_ = end
		for range 10 {
			ctx, cancel := clock.WithTimeout(parent, clock.NewVirtual(noon), time.Minute)
			_, cancelDerived := context.WithCancel(ctx)
			_, _ = cancel, cancelDerived
		}
	})
}

// counting counts the timers that are pending, and all that were made.
type counting struct {
	clock.Clock
	pending, made atomic.Int64
}

func (c *counting) AfterFunc(d time.Duration, f func()) func() bool {
	c.pending.Add(1)
	c.made.Add(1)
	stop := c.Clock.AfterFunc(d, f)
	return func() bool {
		prevented := stop()
		if prevented {
			c.pending.Add(-1)
		}
		return prevented
	}
}

func TestCancelFreesTheTimer(t *testing.T) {
	c := &counting{Clock: clock.NewVirtual(noon)}
	_, cancel := clock.WithTimeout(context.Background(), c, time.Minute)
	if got := c.pending.Load(); got != 1 {
		t.Fatalf("%d timers", got)
	}
	cancel()
	cancel()
	if got := c.pending.Load(); got != 0 {
		t.Errorf("%d timers after cancel", got)
	}

	ended, end := context.WithCancel(context.Background())
	end()
	_, cancel = clock.WithTimeout(ended, c, time.Minute)
	defer cancel()
	if got := c.pending.Load(); got != 0 {
		t.Errorf("%d timers for a context that had ended before", got)
	}
}

func TestDeadlineIsInPackageTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		slow := clock.NewSkewed(clock.Runtime())
		slow.Step(-time.Hour)
		if err := slow.SetRate(0.5); err != nil {
			t.Fatal(err)
		}
		early, cancelEarly := context.WithDeadline(t.Context(), now.Add(time.Second))
		defer cancelEarly()
		for name, tt := range map[string]struct {
			parent context.Context
			clock  clock.Clock
			want   time.Time
		}{
			"a clock in real time":                  {t.Context(), clock.Runtime(), now.Add(time.Minute)},
			"a clock at half speed, an hour behind": {t.Context(), slow, now.Add(2 * time.Minute)},
			"a virtual clock":                       {t.Context(), clock.NewVirtual(noon), time.Time{}},
			"a virtual clock behind a skewed one":   {t.Context(), clock.NewSkewed(clock.NewVirtual(noon)), time.Time{}},
			"an earlier parent":                     {early, slow, now.Add(time.Second)},
			"a parent of a virtual clock":           {early, clock.NewVirtual(noon), now.Add(time.Second)},
		} {
			ctx, cancel := clock.WithTimeout(tt.parent, tt.clock, time.Minute)
			got, ok := ctx.Deadline()
			if ok == tt.want.IsZero() || !got.Equal(tt.want) {
				t.Errorf("%s: deadline = %v, %v, want %v", name, got, ok, tt.want)
			}
			cancel()
		}
	})
}
