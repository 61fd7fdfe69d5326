package clock

import (
	"context"
	"sync"
	"time"
)

// recheck is how late a wait may end because the machine was suspended or the
// wall clock stepped forward.
const recheck = 100 * time.Millisecond

// system waits with package time's timers. Those run on CLOCK_MONOTONIC, which
// neither suspend nor a step of the wall clock moves on; so while waits are
// pending, it compares them with the clocks again and again.
type system struct {
	read func() Reading

	mu        sync.Mutex
	pending   map[*systemTimer]struct{} // those longer than recheck
	rechecked bool                      // a call of check is on its way
}

type systemTimer struct {
	start Reading
	d     time.Duration
	f     func()
	timer *time.Timer // whoever stops it decides whether f runs
}

func newSystem(read func() Reading) *system {
	return &system{read: read, pending: make(map[*systemTimer]struct{})}
}

func (s *system) Now() Reading { return s.read() }

func (s *system) realTime(d time.Duration) (time.Duration, bool) { return d, true }

func (s *system) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	if d == Forever {
		<-ctx.Done()
		return ctx.Err()
	}
	over := make(chan struct{})
	stop := s.AfterFunc(d, func() { close(over) })
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		stop()
		return ctx.Err()
	}
}

func (s *system) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	switch {
	case d <= 0:
		go f()
		return func() bool { return false }
	case d <= recheck:
		// A check would not come sooner than the timer itself.
		return time.AfterFunc(d, f).Stop
	}
	t := &systemTimer{start: s.read(), d: d, f: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.timer = time.AfterFunc(d, func() {
		s.forget(t)
		f()
	})
	s.pending[t] = struct{}{}
	if !s.rechecked {
		s.rechecked = true
		time.AfterFunc(recheck, s.check)
	}
	return func() bool {
		s.forget(t)
		return t.timer.Stop()
	}
}

func (s *system) forget(t *systemTimer) {
	s.mu.Lock()
	delete(s.pending, t)
	s.mu.Unlock()
}

// check starts what is due by the clocks although its timer has not fired, and
// comes back as long as anything is pending.
func (s *system) check() {
	now := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.pending {
		if now.Since(t.start) < t.d {
			continue
		}
		delete(s.pending, t)
		if t.timer.Stop() {
			go t.f()
		}
	}
	s.rechecked = len(s.pending) > 0
	if s.rechecked {
		time.AfterFunc(recheck, s.check)
	}
}
