package redlock

import (
	"context"
	"slices"
	"sync"

	"github.com/b6e7cabe/quorumlock/clock"
)

// A turn lets one process through at a time, in order of arrival. It waits on the Clock and never holds a mutex while
// it does, so that it serves goroutines and the coroutines of a simulation alike.
type turn struct {
	mu    sync.Mutex
	taken bool
	queue []*waiter
}

type waiter struct {
	wake context.CancelFunc
	next bool // the turn has been handed over
}

// take waits for the turn, or until ctx ends.
func (t *turn) take(ctx context.Context, c clock.Clock) error {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	called, wake := context.WithCancel(ctx)
	defer wake()
	w := &waiter{wake: wake}
	t.queue = append(t.queue, w)
	t.mu.Unlock()

	c.Sleep(called, clock.Forever)

	t.mu.Lock()
	defer t.mu.Unlock()
	if w.next {
		return nil
	}
	t.queue = slices.DeleteFunc(t.queue, func(other *waiter) bool { return other == w })
	return ctx.Err()
}

// give hands the turn to the next in the queue.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.taken = false
		return
	}
	w := t.queue[0]
	t.queue = t.queue[1:]
	w.next = true
	w.wake()
}
