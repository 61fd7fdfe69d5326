package schemes

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestNaiveRedlockAsksOneMasterAfterTheOther(t *testing.T) {
	s := newStage(t, redlockNaive)
	var asked []int
	s.masters.before = func(master int, _ string) error {
		asked = append(asked, master)
		return nil
	}
	s.acquire(s.client())
	if !slices.Equal(asked, []int{0, 1, 2, 3, 4}) {
		t.Errorf("it asked %v", asked)
	}
}

// Kleppmann, "Breaking Redlock with bad timings", 2nd example.
func TestNaiveRedlockTakesLeasesThatHaveEndedForALock(t *testing.T) {
	s := newStage(t, redlockNaive)
	s.masters.before = on(4, "SET", func() error {
		s.clock.Advance(ttl) // it stands still
		return nil
	})
	one := s.acquire(s.client())
	two := s.acquire(s.client())
	if one.Remaining() <= 0 || two.Remaining() <= 0 {
		t.Errorf("want two holders: %v and %v are left", one.Remaining(), two.Remaining())
	}
}

// Kleppmann, "Using time to solve consensus": the wall clock may be set.
func TestNaiveRedlockBelievesTheWallClock(t *testing.T) {
	s := newStage(t, redlockNaive)
	own := newClock()
	h := s.acquire(s.clientBy(own))
	s.clock.Advance(ttl)
	own.Advance(ttl)
	if h.Remaining() != 0 {
		t.Errorf("%v are left of a lease that has ended", h.Remaining())
	}
	own.StepWall(-time.Hour)
	if h.Remaining() <= 0 {
		t.Error("a step back of the wall clock is to bring the lease back")
	}
}

// "Distributed locks with Redis", "The Redlock Algorithm", step 5: unlock all, also those that seemed not to be locked.
func TestNaiveRedlockLeavesKeysWhereItsReplyWasLost(t *testing.T) {
	s := newStage(t, redlockNaive)
	for _, i := range []int{0, 1} {
		s.masters.data[i][lock] = entry{value: "another's"}
	}
	s.masters.after = on(2, "SET", func() error { return errLost })
	s.mustBeHeld(s.client())
	for i, want := range []bool{true, true, true, false, false} {
		if has := s.masters.value(i) != ""; has != want {
			t.Errorf("master %d has the key: %v", i, has)
		}
	}
	s.clock.Advance(ttl)
	if left := s.masters.value(2); left != "" {
		t.Errorf("it has %q for longer than the lease", left)
	}
}

func TestNaiveRedlockWithoutAQuorumSaysSo(t *testing.T) {
	s := newStage(t, redlockNaive)
	s.masters.before = func(master int, _ string) error {
		if master > 1 {
			return errLost
		}
		return nil
	}
	_, err := s.client().Acquire(t.Context(), lock)
	if !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, errLost) {
		t.Errorf("the error is %v", err)
	}
	if s.masters.value(0) != "" || s.masters.value(1) != "" {
		t.Error("what was granted has not been given back")
	}
}

func TestNaiveRedlockGivesUpOnASilentMaster(t *testing.T) {
	s := newStage(t, redlockNaive)
	c, err := redlockNaive.Open(chaos.Env{
		Masters: s.masters,
		Plain:   silentFirst{s},
		Clock:   s.clock,
		Random:  rand.NewChaCha8([32]byte{}),
		TTL:     ttl,
	})
	if err != nil {
		t.Fatal(err)
	}
	start := s.clock.Now()
	s.acquire(c)
	if took := s.clock.Now().Since(start); took >= ttl/2 {
		t.Errorf("it took %v of a lease of %v", took, ttl)
	}
}

// silentFirst does not answer for the first master.
type silentFirst struct{ *stage }

func (p silentFirst) Do(ctx context.Context, master int, command ...string) (string, bool, error) {
	if master > 0 {
		return p.masters.Do(ctx, master, command...)
	}
	for waited := time.Duration(0); ctx.Err() == nil && waited < patience; waited += time.Millisecond {
		p.clock.Advance(time.Millisecond)
	}
	return "", false, errLost
}
