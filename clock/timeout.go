package clock

import (
	"context"
	"time"
)

// timeout is the context of WithTimeout. It leaves the passing on to a context
// of package context, because only to and from those does that happen without a
// goroutine. The price is that derived contexts report Canceled: no other error
// can be given to a cancel function.
type timeout struct {
	context.Context
	deadline time.Time // zero: none
}

func (t *timeout) Deadline() (time.Time, bool) {
	return t.deadline, !t.deadline.IsZero()
}

func (t *timeout) Err() error {
	err := t.Context.Err()
	if err == context.Canceled && context.Cause(t.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// inRealTime is a clock whose waits package time can foretell.
type inRealTime interface {
	// realTime is how long a wait of d takes if the clock is left alone. It is
	// not ok if the clock does not wait in real time after all.
	realTime(d time.Duration) (wait time.Duration, ok bool)
}

func deadlineOf(parent context.Context, c Clock, d time.Duration) time.Time {
	deadline, bounded := parent.Deadline()
	if c, ok := c.(inRealTime); ok {
		if wait, ok := c.realTime(d); ok {
			if end := time.Now().Add(wait); !bounded || end.Before(deadline) {
				return end
			}
		}
	}
	return deadline
}
