package main

import (
	"context"
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// hold is a lock that was granted, with somebody looking over its holder's shoulder.
type hold struct {
	*redlock.Lock
	watch *watch
	grant *grant
	ended bool // its holder was told that it has ended
}

// Remaining implements chaos.Hold.
func (h *hold) Remaining() time.Duration {
	remaining := h.Lock.Remaining()
	h.told(remaining)
	return remaining
}

// told compares what the holder is told with what it may believe.
func (h *hold) told(remaining time.Duration) {
	t, left := h.watch.trial, h.watch.left(h.grant)
	if remaining == 0 {
		h.ended = true
		if t.search.lasting {
			t.violated(endurance, "a lock that was extended ended under its holder")
		}
		return
	}
	if h.ended {
		t.violated(validity, "a lock that had ended has %v left", remaining)
	}
	if remaining > left {
		t.violated(validity, "a holder believes in its lock for %v, a quorum has granted %v", remaining, left)
	}
	if !t.search.exclusive {
		return
	}
	for _, other := range t.holds {
		if other != h && other.Lock.Remaining() > 0 {
			t.violated(exclusion, "tokens %d and %d are held at one time", other.Token(), h.Token())
		}
	}
}

// lookAround has the holder of a grant look at its lock.
func (w *watch) lookAround(g *grant) {
	for _, h := range w.trial.holds {
		if h.grant == g {
			h.told(h.Lock.Remaining())
		}
	}
}

// awaitEnd sees whether the lock's context ends with what was granted.
func (h *hold) awaitEnd() {
	left := h.watch.left(h.grant)
	h.watch.env.Clock.AfterFunc(left+time.Millisecond, func() {
		switch {
		case !slices.Contains(h.watch.trial.holds, h):
		case h.watch.left(h.grant) > 0:
			h.awaitEnd()
		case h.Context().Err() == nil:
			h.watch.trial.violated(validity, "a lock's context outlives what a quorum has granted")
		}
	})
}

// Release implements chaos.Hold.
func (h *hold) Release(ctx context.Context) error {
	t := h.watch.trial
	t.holds = slices.DeleteFunc(t.holds, func(other *hold) bool { return other == h })
	err := h.Lock.Release(ctx)
	switch t.search.tidy {
	case noKey:
		h.watch.lookLater(h.grant, 1)
	case noReturn:
		h.watch.lookLater(h.grant, tidyLooks)
	}
	return err
}
