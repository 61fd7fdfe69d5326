package schemes

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// countExtensions lets all pass but those that fail says, and counts.
func (s *stage) countExtensions(fail func(n int) bool) *int {
	n := new(int)
	s.masters.before = func(_ int, command string) error {
		if command != redlock.OpExtend.String() {
			return nil
		}
		*n++
		if fail(*n) {
			return errLost
		}
		return nil
	}
	return n
}

func TestTheWatchdogExtendsEveryThirdOfTheLeaseUntilRelease(t *testing.T) {
	s := newStage(t, singleWatchdog)
	n := s.countExtensions(func(int) bool { return false })
	timers := &timers{Clock: s.clock}
	h := s.acquire(s.clientBy(timers))
	s.clock.Advance(10 * ttl)
	if *n != 30 {
		t.Errorf("%d extensions in 10 leases", *n)
	}
	s.mustBeHeld(s.client())
	s.release(h)
	if timers.pending != 0 {
		t.Error("a tick is still planned after the release")
	}
}

func TestTheWatchdogRetriesAtTheNextTick(t *testing.T) {
	s := newStage(t, singleWatchdog)
	n := s.countExtensions(func(n int) bool { return n%2 == 1 })
	s.acquire(s.client())
	s.clock.Advance(10 * ttl)
	if *n != 30 {
		t.Errorf("%d extensions in 10 leases, of which every other failed", *n)
	}
	s.mustBeHeld(s.client())
}

// Kleppmann, "Protecting a resource with a lock": the watchdog stands still with its process.
func TestTheWatchdogTellsNobodyThatTheLockIsAnothers(t *testing.T) {
	s := newStage(t, singleWatchdog)
	own := newClock()
	one := s.acquire(s.clientBy(own))
	s.clock.Advance(ttl) // while 1 stands still
	two := s.acquire(s.client())
	n := s.countExtensions(func(int) bool { return false })
	own.Advance(ttl * 2 / 3) // 1 goes on, and so does its watchdog
	if *n != 2 || one.Remaining() <= 0 || two.Remaining() <= 0 {
		t.Errorf("want two holders and two failed extensions: %d, %v and %v are left", *n, one.Remaining(), two.Remaining())
	}
	own.Advance(10 * ttl)
	if *n != 32 {
		t.Errorf("it has given up after %d extensions", *n)
	}
	if err := one.Release(t.Context()); !errors.Is(err, redlock.ErrHeld) {
		t.Errorf("the release of 1 ends with %v", err)
	}
	s.release(two)
}

// A simulation runs one process at a time: a lock that is held across a wait would never be had again.
func TestAReleaseDuringAnExtensionIsTheEndOfIt(t *testing.T) {
	s := newStage(t, singleWatchdog)
	timers := &timers{Clock: s.clock}
	h := s.acquire(s.clientBy(timers))
	s.masters.before = on(0, redlock.OpExtend.String(), func() error {
		s.release(h)
		return nil
	})
	s.clock.Advance(ttl / 3)
	if timers.pending != 0 || s.masters.value(0) != "" {
		t.Errorf("%d ticks are planned after the release, and the key is %q", timers.pending, s.masters.value(0))
	}
}

// timers is a clock that counts who waits for it.
type timers struct {
	clock.Clock
	pending int
}

func (c *timers) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.pending++
	cancel := c.Clock.AfterFunc(d, func() { c.pending--; f() })
	return func() bool {
		stopped := cancel()
		if stopped {
			c.pending--
		}
		return stopped
	}
}

func TestTheWatchdogRunsBesideItsHolder(t *testing.T) {
	system := clock.System()
	m := newMasters(1, system)
	ticks := make(chan struct{})
	m.after = func(_ int, command string) error {
		if command == redlock.OpExtend.String() {
			select {
			case ticks <- struct{}{}:
			default:
			}
		}
		return nil
	}
	env := chaos.Env{Masters: m, Clock: system, Random: rand.NewChaCha8([32]byte{}), TTL: 30 * time.Millisecond}
	c, err := singleWatchdog.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Acquire(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-ticks
		h.Remaining()
	}
	h.Release(t.Context()) // a busy machine may have let the lease end, which is no matter here
}
