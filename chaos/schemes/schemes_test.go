package schemes

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

const year = 365 * 24 * time.Hour

var errLost = errors.New("lost on the way")

// each runs a claim on every scheme that is a lock at all.
func each(t *testing.T, claim func(s *stage)) {
	for _, scheme := range All() {
		if scheme.Name == none.Name {
			continue
		}
		t.Run(scheme.Name, func(t *testing.T) { claim(newStage(t, scheme)) })
	}
}

func excludes(s chaos.Scheme) bool { return s.Name != localMutex.Name }
func expires(s chaos.Scheme) bool  { return excludes(s) && s.Name != setnx.Name }
func hasTokens(s chaos.Scheme) bool {
	return strings.HasPrefix(s.Name, "single") || strings.HasPrefix(s.Name, "redlock") && s.Name != redlockNaive.Name
}

// mustBeHeld has a client ask in vain.
func (s *stage) mustBeHeld(c chaos.Locker) {
	s.Helper()
	if _, err := c.Acquire(s.Context(), lock); !errors.Is(err, redlock.ErrHeld) {
		s.Errorf("the lock is held, but a second client is told: %v", err)
	}
}

func TestWithoutALockEverybodyComesIn(t *testing.T) {
	s := newStage(t, none)
	first, second := s.acquire(s.client()), s.acquire(s.client())
	if first.Token() != 0 || second.Token() != 0 {
		t.Errorf("the tokens are %d and %d", first.Token(), second.Token())
	}
	s.release(second)
	s.release(first)
}

func TestEverySchemeGrantsRefusesAndReleases(t *testing.T) {
	each(t, func(s *stage) {
		one, two := s.client(), s.client()
		first := s.acquire(one)
		if left := first.Remaining(); left <= 0 || expires(s.scheme) && left > ttl || !expires(s.scheme) && left != forever {
			s.Errorf("%v are left at first", left)
		}
		s.mustBeHeld(one)
		if excludes(s.scheme) {
			s.mustBeHeld(two)
		}
		s.release(first)
		second := s.acquire(two)
		if hasTokens(s.scheme) && first.Token() >= second.Token() || !hasTokens(s.scheme) && second.Token() != 0 {
			s.Errorf("the tokens are %d, then %d", first.Token(), second.Token())
		}
		s.release(second)
		if err := second.Release(s.Context()); err == nil {
			s.Error("a lock can be released twice")
		}
		for i := range s.masters.Len() {
			if left := s.masters.value(i); left != "" {
				s.Errorf("master %d still has %q", i, left)
			}
		}
	})
}

func TestAnExtendedLockOutlivesItsFirstLease(t *testing.T) {
	each(t, func(s *stage) {
		one, two := s.client(), s.client()
		h := s.acquire(one)
		s.clock.Advance(ttl * 2 / 3)
		if err := h.Extend(s.Context()); err != nil {
			s.Fatal(err)
		}
		s.clock.Advance(ttl * 2 / 3)
		if h.Remaining() <= 0 {
			s.Error("nothing is left after an extension")
		}
		if excludes(s.scheme) {
			s.mustBeHeld(two)
		}
		s.release(h)
	})
}

func TestALockIsFreeOneLeaseAfterItsHolderDied(t *testing.T) {
	each(t, func(s *stage) {
		s.acquire(s.clientBy(newClock())) // and is not heard of again
		if !expires(s.scheme) {
			return
		}
		s.clock.Advance(ttl + time.Millisecond)
		s.release(s.acquire(s.client()))
	})
}

func TestAReleaseThatIsLostLeavesTheLockToExpire(t *testing.T) {
	each(t, func(s *stage) {
		h := s.acquire(s.client())
		s.masters.before = func(int, string) error { return errLost }
		if err := h.Release(s.Context()); excludes(s.scheme) && err == nil {
			s.Error("a release that reached no master is no error")
		}
		s.masters.before = nil
		if !expires(s.scheme) {
			return
		}
		s.clock.Advance(ttl + time.Millisecond)
		s.release(s.acquire(s.client()))
	})
}

func TestNoRandomnessIsAnError(t *testing.T) {
	each(t, func(s *stage) {
		if !excludes(s.scheme) {
			return
		}
		env := chaos.Env{Masters: s.masters, Plain: s.masters, Clock: s.clock, Random: iotest.ErrReader(errLost), TTL: ttl}
		c, err := s.scheme.Open(env)
		if err != nil {
			s.Fatal(err)
		}
		if _, err := c.Acquire(s.Context(), lock); !errors.Is(err, errLost) {
			s.Errorf("the error is %v", err)
		}
	})
}

func TestEveryProcessHasALocalMutexOfItsOwn(t *testing.T) {
	s := newStage(t, localMutex)
	one, two := s.client(), s.client()
	s.acquire(one)
	s.mustBeHeld(one)
	s.acquire(two)
}

// "Distributed locks with Redis", "Safety and Liveness Guarantees": deadlock free.
func TestSetnxIsLockedForEverWhenItsHolderDies(t *testing.T) {
	s := newStage(t, setnx)
	s.acquire(s.client())
	s.clock.Advance(year)
	s.mustBeHeld(s.client())
}

func TestSetnxIsLockedForEverWhenItsReplyIsLost(t *testing.T) {
	s := newStage(t, setnx)
	s.masters.after = on(0, "SETNX", func() error { return errLost })
	if _, err := s.client().Acquire(t.Context(), lock); !errors.Is(err, errLost) {
		t.Fatalf("the error is %v", err)
	}
	s.clock.Advance(year)
	s.mustBeHeld(s.client())
}

func TestSetnxExpireIsLockedForEverWhenItsClientDiesBetween(t *testing.T) {
	s := newStage(t, setnxExpire)
	s.masters.before = on(0, "PEXPIRE", func() error { return errLost })
	if _, err := s.client().Acquire(t.Context(), lock); !errors.Is(err, errLost) {
		t.Fatalf("the error is %v", err)
	}
	s.clock.Advance(year)
	s.mustBeHeld(s.client())
}

// lateRelease has client 1 release after its lease has ended and 2 has come in, and returns the error.
func lateRelease(s *stage) error {
	s.Helper()
	one := s.acquire(s.clientBy(newClock()))
	s.clock.Advance(ttl)
	s.acquire(s.client())
	return one.Release(s.Context())
}

// "Distributed locks with Redis", "Correct Implementation with a Single Instance": just DEL is not safe.
func TestBlindDelDeletesAnothersLock(t *testing.T) {
	s := newStage(t, blindDel)
	if err := lateRelease(s); err != nil {
		t.Error(err)
	}
	s.acquire(s.client()) // 3 is in, beside 2
}

func TestGetThenDelDeletesAnothersLockAfterAPauseBetweenTheTwo(t *testing.T) {
	s := newStage(t, getThenDel)
	one := s.acquire(s.client())
	s.masters.before = on(0, "DEL", func() error {
		s.clock.Advance(ttl)
		s.acquire(s.client())
		return nil
	})
	s.release(one)
	s.acquire(s.client()) // 3 is in, beside 2
}

func TestGetThenDelExtendsAnothersLockAfterAPauseBetweenTheTwo(t *testing.T) {
	s := newStage(t, getThenDel)
	one := s.acquire(s.client())
	s.masters.before = on(0, "PEXPIRE", func() error {
		s.clock.Advance(ttl)
		s.acquire(s.client())
		return nil
	})
	if err := one.Extend(t.Context()); err != nil || one.Remaining() != ttl {
		t.Errorf("1 is to believe that it has extended its lock: %v, %v left", err, one.Remaining())
	}
}

func TestGetThenDelSeesWhoseLockItIs(t *testing.T) {
	s := newStage(t, getThenDel)
	if err := lateRelease(s); !errors.Is(err, redlock.ErrLost) {
		t.Errorf("the error is %v", err)
	}
	s.mustBeHeld(s.client())

	s = newStage(t, getThenDel)
	one := s.acquire(s.client())
	s.clock.Advance(ttl)
	if err := one.Extend(t.Context()); !errors.Is(err, redlock.ErrExpired) {
		t.Errorf("the error of a late extension is %v", err)
	}
}

func TestAScriptedReleaseNeverDeletesAnothersLock(t *testing.T) {
	for _, scheme := range []chaos.Scheme{single, singleWatchdog, singleFailover, redlockNaive, redlockHere} {
		t.Run(scheme.Name, func(t *testing.T) {
			s := newStage(t, scheme)
			if err := lateRelease(s); err == nil {
				t.Error("a release that deletes nothing is no error")
			}
			s.mustBeHeld(s.client())
		})
	}
}

// "Distributed locks with Redis", "Why Failover-based Implementations Are Not Enough".
func TestAfterAFailoverTwoHoldersHaveOneToken(t *testing.T) {
	s := newStage(t, singleFailover)
	one := s.acquire(s.client())
	s.masters.data[0] = map[string]entry{} // the replica, before it has heard of the lock
	two := s.acquire(s.client())
	if one.Remaining() <= 0 || one.Token() != two.Token() {
		t.Errorf("want two holders of one token: %v are left of 1, tokens %d and %d", one.Remaining(), one.Token(), two.Token())
	}
}

func TestASilentMasterIsAnErrorAndNoGrant(t *testing.T) {
	s := newStage(t, single)
	s.masters.data = nil // no reply at all
	if h, err := s.client().Acquire(t.Context(), lock); err == nil {
		t.Errorf("it has %v", h)
	}
}

func TestALeaseIsCountedByTheClientsOwnClock(t *testing.T) {
	each(t, func(s *stage) {
		if !expires(s.scheme) || strings.HasSuffix(s.scheme.Name, "-watchdog") {
			return
		}
		own := clock.NewSkewed(s.clock)
		if err := own.SetRate(0.5); err != nil {
			s.Fatal(err)
		}
		h := s.acquire(s.clientBy(own))
		s.clock.Advance(ttl)
		if h.Remaining() <= 0 {
			s.Error("a client whose clock is slow is to believe in a lease that has ended")
		}
		s.clock.Advance(2 * ttl)
		if h.Remaining() != 0 {
			s.Errorf("%v are left in the end", h.Remaining())
		}
	})
}
