package clock

import (
	"context"
	"math"
	"time"
)

// Clock tells the time and waits on it. Its methods may be called from any
// goroutine.
//
// A wait of d is over when Reading.Since of its beginning has reached d: a
// forward step of the wall clock ends it early, a backward one changes nothing.
type Clock interface {
	// Now reads the clock.
	Now() Reading

	// Sleep returns nil after d, or ctx.Err() if ctx ends first. A d of zero or
	// less returns at once, with ctx.Err() if ctx has ended.
	Sleep(ctx context.Context, d time.Duration) error

	// AfterFunc runs f once after d, at once if d is zero or less, but never
	// inside the call to AfterFunc itself. Unless the clock says otherwise f
	// has a goroutine of its own. stop reports whether it prevented f: false
	// means that f was started, or was stopped before. It does not wait for f.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Forever is the longest duration, 292 years. Sleep(ctx, Forever) is the way to
// wait for ctx alone.
const Forever time.Duration = math.MaxInt64

// Reading is one look at two clocks. It means something only beside another
// reading of the same Clock; see Since.
type Reading struct {
	// Wall is the wall clock. It carries no monotonic part, and so shows every
	// step that the clock was made to take.
	Wall time.Time

	// Boot is the time since some fixed moment, by a clock that nobody sets and
	// that goes on while the machine is suspended, where the system has one.
	Boot time.Duration
}

// Since is the time from earlier to r: the larger of what the two clocks say.
// Either may have fallen behind, the wall clock because it was set back, the
// other because it stood still during suspend, and who relies on a lease has to
// believe the one that did not. A forward step of the wall clock can therefore
// only shorten a lease; a backward one changes nothing.
func (r Reading) Since(earlier Reading) time.Duration {
	return max(r.Boot-earlier.Boot, r.Wall.Sub(earlier.Wall))
}

// Add is r with both clocks moved on by d.
func (r Reading) Add(d time.Duration) Reading {
	return Reading{Wall: r.Wall.Add(d), Boot: sum(r.Boot, d)}
}

// sum is a + b, or the longest duration of its sign instead of an overflow.
func sum(a, b time.Duration) time.Duration {
	switch c := a + b; {
	case b > 0 && c < a:
		return math.MaxInt64
	case b < 0 && c > a:
		return math.MinInt64
	default:
		return c
	}
}

// System is the clock of this machine. Its Boot reading is CLOCK_BOOTTIME on
// Linux; where there is no such clock System is the same as Runtime.
//
// A wait that has ended while the machine was suspended, or by a forward step
// of the wall clock, is over within 100 ms of the machine's running time.
// Each call makes a clock with its own set of pending waits.
func System() Clock {
	if _, ok := bootTime(); !ok {
		return Runtime()
	}
	return newSystem(func() Reading {
		boot, _ := bootTime()
		return Reading{Wall: time.Now().Round(0), Boot: boot}
	})
}

// Runtime is a clock made of package time alone: Boot is Go's monotonic clock,
// which on most systems stands still during suspend. It is for systems that
// have nothing better, and for tests under testing/synctest, which fakes
// package time but no system call: make it inside the bubble.
func Runtime() Clock {
	began := time.Now()
	return newSystem(func() Reading {
		now := time.Now()
		return Reading{Wall: now.Round(0), Boot: now.Sub(began)}
	})
}

// WithTimeout is context.WithTimeout by the clock c. When d has passed on c, the
// context ends: its Err and its context.Cause are context.DeadlineExceeded, and
// so is the Cause of every context derived from it (whose own Err may be
// context.Canceled). Calling cancel, as one must, frees the timer.
//
// It waits by c.AfterFunc alone, without a goroutine, and whatever ends it has
// ended it and all contexts derived from it before returning: the parent's
// cancel, its own, or the function given to AfterFunc.
//
// Deadline is read by people who know nothing of c, a network connection for
// one, and compared with package time. So where c waits in real time, as System,
// Runtime and a Skewed of them do, it is the moment in package time at which
// the context is expected to end, or the parent's Deadline if that is earlier;
// with any other clock it is the parent's.
func WithTimeout(parent context.Context, c Clock, d time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	inner, end := context.WithCancelCause(parent)
	ctx = &timeout{Context: inner, deadline: deadlineOf(parent, c, d)}
	if d <= 0 {
		end(context.DeadlineExceeded)
	}
	if inner.Err() != nil {
		return ctx, func() { end(nil) }
	}
	stop := c.AfterFunc(d, func() { end(context.DeadlineExceeded) })
	return ctx, func() {
		stop()
		end(nil)
	}
}
