package sim

import (
	"context"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// hostClock is the clock of a simulated client: its boot-time clock, which may run slow or fast, and its wall clock, which
// may also be off and jump. It implements clock.Clock.
type hostClock struct {
	kernel *kernel
	host   *host
	rate   float64       // of its clocks against real time; 1 is right
	offset time.Duration // of its wall clock against its boot-time clock
	since  time.Duration // real time at which the rate was set
	boot   time.Duration // what the boot-time clock showed then
	pinned time.Time     // what its wall clock stands at; zero if it goes
}

func (c *hostClock) elapsed() time.Duration {
	if c.rate == 1 {
		return c.boot + (c.kernel.now - c.since)
	}
	return c.boot + time.Duration(float64(c.kernel.now-c.since)*c.rate)
}

// setRate changes how fast the clocks run, without a jump.
func (c *hostClock) setRate(rate float64) {
	c.boot, c.since, c.rate = c.elapsed(), c.kernel.now, rate
}

// Now implements clock.Clock.
func (c *hostClock) Now() clock.Reading {
	boot := c.elapsed()
	if !c.pinned.IsZero() {
		return clock.Reading{Wall: c.pinned, Boot: boot}
	}
	return clock.Reading{Wall: epoch.Add(boot + c.offset), Boot: boot}
}

// real is how long a wait of d by this clock takes.
func (c *hostClock) real(d time.Duration) time.Duration {
	if c.rate == 1 {
		return d
	}
	return time.Duration(float64(d)/c.rate) + 1
}

// Sleep implements clock.Clock.
func (c *hostClock) Sleep(ctx context.Context, d time.Duration) error {
	return c.kernel.sleep(ctx, c.real(min(d, clock.Forever/2)), d == clock.Forever)
}

// AfterFunc implements clock.Clock.
func (c *hostClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if c.kernel.over || c.host.crashed {
		return func() bool { return true }
	}
	const (
		waiting = iota
		stopped
		fired
	)
	state := waiting
	c.kernel.spawnIf(c.host, c.real(d), func() bool {
		if state != waiting {
			return false
		}
		state = fired
		return true
	}, f)
	return func() bool {
		if state != waiting {
			return false
		}
		state = stopped
		return true
	}
}
