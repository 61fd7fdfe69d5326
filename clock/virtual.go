package clock

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Virtual is a clock for tests. It stands still until Advance or StepWall moves
// it. A function given to AfterFunc runs inside the move that makes it due, in
// order of due time and, among those due at one moment, of creation; what it
// makes due on the way runs on the way. So when the move returns, all that was
// due has been done. Two things follow from it: a function that waits for a
// later moment needs somebody else to move the clock meanwhile, and one that is
// due at once, by a d of zero or less, has a goroutine of its own instead.
//
// Sleepers are woken in the same order, in their own goroutines, which a move
// does not wait for. The methods may be called from any goroutine, but for the
// order to mean anything moves have to come one at a time. It must be made by
// NewVirtual.
type Virtual struct {
	mu     sync.Mutex
	now    Reading
	timers []*virtualTimer // in order of byDue
	made   uint64
	asleep int
}

// virtualTimer is a pending AfterFunc.
type virtualTimer struct {
	start Reading
	d     time.Duration
	due   time.Duration // by Boot, if the wall clock is not stepped any more
	order uint64        // of creation
	f     func()
}

// NewVirtual is a clock whose wall shows the time given and whose Boot is zero.
func NewVirtual(wall time.Time) *Virtual {
	return &Virtual{now: Reading{Wall: wall.Round(0)}}
}

// Advance moves both clocks on by d, from one due moment to the next. That is
// also what suspend looks like from inside. A negative d moves nothing.
func (v *Virtual) Advance(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.moveTo(sum(v.now.Boot, d))
}

// StepWall moves the wall clock by d, forward or back, and leaves Boot where it
// is. What has become due by Reading.Since runs.
func (v *Virtual) StepWall(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Wall = v.now.Wall.Add(d)
	for _, t := range v.timers {
		t.due = v.due(t)
	}
	slices.SortFunc(v.timers, byDue)
	v.moveTo(v.now.Boot)
}

// Waiters is the number of goroutines parked in Sleep, so that a test knows when
// to move on. A move that wakes one has taken it off the count when it returns;
// one that sleeps through a Skewed, or whose ctx ends, leaves when it runs again.
func (v *Virtual) Waiters() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asleep
}

// Now implements Clock.
func (v *Virtual) Now() Reading {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Sleep implements Clock.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	over := make(chan struct{})
	v.mu.Lock()
	v.asleep++
	t := v.add(d, func() {
		v.mu.Lock()
		v.asleep--
		v.mu.Unlock()
		close(over)
	})
	v.mu.Unlock()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.remove(t) {
		v.asleep--
	}
	return ctx.Err()
}

// AfterFunc implements Clock. f runs inside Advance or StepWall, or at once in
// its own goroutine if d is zero or less.
func (v *Virtual) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 {
		go f()
		return func() bool { return false }
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.add(d, f)
	return func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.remove(t)
	}
}

func (v *Virtual) add(d time.Duration, f func()) *virtualTimer {
	v.made++
	t := &virtualTimer{start: v.now, d: d, order: v.made, f: f}
	t.due = v.due(t)
	at, _ := slices.BinarySearchFunc(v.timers, t, byDue)
	v.timers = slices.Insert(v.timers, at, t)
	return t
}

// remove reports whether t was still pending.
func (v *Virtual) remove(t *virtualTimer) bool {
	at, pending := slices.BinarySearchFunc(v.timers, t, byDue)
	if pending {
		v.timers = slices.Delete(v.timers, at, at+1)
	}
	return pending
}

// due is the Boot reading at which t is due by one of the two clocks.
func (v *Virtual) due(t *virtualTimer) time.Duration {
	return sum(v.now.Boot, t.d-v.now.Since(t.start))
}

func byDue(a, b *virtualTimer) int {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.order, b.order))
}

// moveTo moves both clocks on until Boot is boot, and runs what is due on the way.
func (v *Virtual) moveTo(boot time.Duration) {
	for len(v.timers) > 0 && v.timers[0].due <= boot {
		t := v.timers[0]
		v.timers = slices.Delete(v.timers, 0, 1)
		v.pass(t.due)
		v.run(t.f)
	}
	v.pass(boot)
}

// pass moves both clocks on until Boot is boot, never back.
func (v *Virtual) pass(boot time.Duration) {
	if boot > v.now.Boot {
		v.now = v.now.Add(boot - v.now.Boot)
	}
}

// run lets f have the mutex that its caller holds, and has it back also when f
// ends its goroutine, as a failing test does.
func (v *Virtual) run(f func()) {
	v.mu.Unlock()
	defer v.mu.Lock()
	f()
}
