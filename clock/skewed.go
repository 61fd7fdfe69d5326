package clock

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Skewed is a clock that is wrong on purpose: another clock, seen through an
// offset of the wall clock and a rate. It begins without either. Changes take
// effect at once, also on waits that are pending, and its methods may be called
// from any goroutine. It must be made by NewSkewed.
type Skewed struct {
	base Clock

	mu    sync.Mutex
	law   law
	waits *list.List // of *skewedTimer, in order of creation
}

// NewSkewed is base, not wrong yet. It waits as base does: what base says of
// where a function given to AfterFunc runs holds for Skewed too. base must not
// call back into the Skewed from Now or AfterFunc.
func NewSkewed(base Clock) *Skewed {
	now := base.Now()
	return &Skewed{base: base, law: law{base: now, own: now, rate: 1}, waits: list.New()}
}

// Step moves the wall clock by d, forward or back, as if somebody had set it.
// Boot goes on undisturbed.
func (s *Skewed) Step(d time.Duration) {
	s.change(func(l *law) { l.own.Wall = l.own.Wall.Add(d) })
}

// SetRate makes both clocks run at rate from here on: 0.8 is a clock that is
// slow by 20 %, so that it sleeps for 1.25 s when it is asked for 1 s. The
// readings do not jump. A rate that is not positive and finite is refused.
func (s *Skewed) SetRate(rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return fmt.Errorf("a clock cannot run at rate %v: it must be positive and finite", rate)
	}
	s.change(func(l *law) { l.rate = rate })
	return nil
}

// Freeze pins the wall clock to at. Boot goes on, so waits still end. Step moves
// the pin.
func (s *Skewed) Freeze(at time.Time) {
	s.change(func(l *law) { l.own.Wall, l.frozen = at.Round(0), true })
}

// Thaw lets the wall clock go on from where Freeze has pinned it.
func (s *Skewed) Thaw() {
	s.change(func(l *law) { l.frozen = false })
}

// Now implements Clock.
func (s *Skewed) Now() Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Sleep implements Clock.
func (s *Skewed) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || d == Forever {
		return s.base.Sleep(ctx, d)
	}
	// Parking is left to the base clock, so that a simulated one can do it
	// without blocking a goroutine.
	asleep, wake := context.WithCancel(ctx)
	defer wake()
	stop := s.AfterFunc(d, wake)
	s.base.Sleep(asleep, Forever)
	if stop() {
		return ctx.Err()
	}
	return nil
}

// AfterFunc implements Clock.
func (s *Skewed) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 {
		return s.base.AfterFunc(d, f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &skewedTimer{start: s.now(), d: d, f: f, least: 1}
	t.place = s.waits.PushBack(t)
	s.arm(t, d)
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.over {
			return false
		}
		t.stop()
		s.remove(t)
		return true
	}
}

// skewedTimer is a pending AfterFunc; its changing fields are guarded by the
// clock's mutex.
type skewedTimer struct {
	start Reading
	d     time.Duration
	f     func()
	place *list.Element
	left  time.Duration // when it was armed
	least time.Duration // to wait on the base clock
	stop  func() bool   // stops the base clock's timer
	over  bool
}

func (s *Skewed) now() Reading { return s.law.at(s.base.Now()) }

// left is how long t goes on by whichever clock ends it first, of those that move.
func (s *Skewed) left(t *skewedTimer) time.Duration {
	now := s.now()
	left := t.d - now.Since(t.start)
	if left > 0 && s.law.frozen {
		return t.d - (now.Boot - t.start.Boot)
	}
	return left
}

// arm sets the base clock's timer for t. One that is due already still takes its
// place in the order of that clock.
func (s *Skewed) arm(t *skewedTimer, left time.Duration) {
	t.left = left
	t.stop = s.base.AfterFunc(max(s.law.stretch(left), t.least), func() { s.fire(t) })
}

func (s *Skewed) remove(t *skewedTimer) {
	t.over = true
	s.waits.Remove(t.place)
}

// fire runs when the base clock's timer for t has fired.
func (s *Skewed) fire(t *skewedTimer) {
	if s.take(t) {
		t.f()
	}
}

// take removes t if it is due, and arms it again if not: the base clock may have
// ended the wait for reasons of its own, such as a step of its wall clock.
func (s *Skewed) take(t *skewedTimer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.over {
		return false
	}
	left := s.left(t)
	if left <= 0 {
		s.remove(t)
		return true
	}
	// On a base clock whose wall is stuck, as much may be left however long t
	// waits. Then the waits grow, lest they become a busy loop.
	if left < t.left {
		t.least = 1
	} else {
		t.least = min(2*t.least, recheck)
	}
	s.arm(t, left)
	return false
}

// change starts a new law from where the old one has led to, and plans all
// pending waits anew.
func (s *Skewed) change(edit func(*law)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.base.Now()
	s.law.base, s.law.own = base, s.law.at(base)
	edit(&s.law)
	for e := s.waits.Front(); e != nil; e = e.Next() {
		// What cannot be stopped is on its way to take, and sees the new law there.
		if t := e.Value.(*skewedTimer); t.stop() {
			t.least = 1
			s.arm(t, s.left(t))
		}
	}
}

func (s *Skewed) realTime(d time.Duration) (time.Duration, bool) {
	base, ok := s.base.(inRealTime)
	if !ok {
		return 0, false
	}
	s.mu.Lock()
	d = s.law.stretch(d)
	s.mu.Unlock()
	return base.realTime(d)
}

// law turns readings of the base clock into those of the skewed one.
type law struct {
	base   Reading // when this law began, by the base clock
	own    Reading // the same moment, by the skewed clock
	rate   float64
	frozen bool
}

func (l *law) at(base Reading) Reading {
	now := Reading{
		Wall: l.own.Wall,
		Boot: sum(l.own.Boot, times(base.Boot-l.base.Boot, l.rate)),
	}
	if !l.frozen {
		now.Wall = now.Wall.Add(times(base.Wall.Sub(l.base.Wall), l.rate))
	}
	return now
}

// stretch is how long the base clock has to wait for d to pass on the skewed one.
func (l *law) stretch(d time.Duration) time.Duration {
	if l.rate == 1 {
		return d
	}
	return duration(math.Ceil(float64(d) / l.rate))
}

func times(d time.Duration, rate float64) time.Duration {
	if rate == 1 {
		return d
	}
	return duration(math.Floor(float64(d) * rate))
}

// duration is ns nanoseconds, or the nearest duration there is.
func duration(ns float64) time.Duration {
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}
