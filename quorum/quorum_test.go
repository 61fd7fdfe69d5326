package quorum_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/b6e7cabe/quorumlock/quorum"
	"pgregory.net/rapid"
)

func TestAnyTwoMajoritiesShareAVoterAndNothingSmallerDoes(t *testing.T) {
	for n := 1; n <= 100; n++ {
		m := quorum.Majority(n)
		if quorum.Intersection(n, m, m) < 1 {
			t.Errorf("two sets of %d out of %d may be disjoint", m, n)
		}
		if quorum.Intersection(n, m-1, m-1) > 0 {
			t.Errorf("%d out of %d would have been enough", m-1, n)
		}
	}
}

func TestValidAcceptsExactlyMajorities(t *testing.T) {
	for n := -3; n <= 12; n++ {
		for need := -3; need <= 15; need++ {
			want := n >= 1 && 2*need > n && need <= n
			err := quorum.Valid(n, need)
			if (err == nil) != want {
				t.Errorf("Valid(%d, %d) = %v", n, need, err)
			}
			if err != nil && (!strings.Contains(err.Error(), fmt.Sprint(n)) || !strings.Contains(err.Error(), fmt.Sprint(need))) {
				t.Errorf("the error does not name %d and %d: %v", n, need, err)
			}
		}
	}
}

func TestSizesBeyondReasonDoNotOverflow(t *testing.T) {
	if got := quorum.Intersection(math.MaxInt, math.MaxInt, math.MaxInt); got != math.MaxInt {
		t.Errorf("all of all, twice: %d", got)
	}
	if got := quorum.Intersection(5, math.MaxInt, math.MinInt); got != 0 {
		t.Errorf("everybody and nobody: %d", got)
	}
	if got := quorum.Intersection(math.MinInt, 1, 1); got != 0 {
		t.Errorf("no voters: %d", got)
	}
	if got := quorum.Majority(math.MinInt); got != 1 {
		t.Errorf("a majority of none: %d", got)
	}
	if got := quorum.Majority(math.MaxInt); got != math.MaxInt/2+1 {
		t.Errorf("a majority of all: %d", got)
	}
}

// For up to 7 voters every pair of sets is looked at: no two share less than
// Intersection says, and some share no more.
func TestIntersectionIsTheLeastThatAnyTwoSetsShare(t *testing.T) {
	for n := 0; n <= 7; n++ {
		least := make(map[[2]int]int)
		for a := range uint(1) << n {
			for b := range uint(1) << n {
				sizes := [2]int{bits.OnesCount(a), bits.OnesCount(b)}
				shared := bits.OnesCount(a & b)
				if old, ok := least[sizes]; !ok || shared < old {
					least[sizes] = shared
				}
			}
		}
		for sizes, want := range least {
			if got := quorum.Intersection(n, sizes[0], sizes[1]); got != want {
				t.Errorf("Intersection(%d, %d, %d) = %d, want %d", n, sizes[0], sizes[1], got, want)
			}
		}
	}
}

func TestTwoWinningSetsShareTheirIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "voters")
		a := rapid.IntRange(1, n).Draw(t, "need of A")
		b := rapid.IntRange(1, n).Draw(t, "need of B")
		voters := make([]int, n)
		for i := range voters {
			voters[i] = i
		}
		win := func(need int, order []int) map[int]bool {
			tally, set := quorum.NewTally(n, need), make(map[int]bool)
			for _, voter := range order {
				if tally.Won() {
					break
				}
				tally.Add(voter, true)
				set[voter] = true
			}
			return set
		}
		first := win(a, rapid.Permutation(voters).Draw(t, "order of A"))
		second := win(b, rapid.Permutation(voters).Draw(t, "order of B"))
		shared := 0
		for voter := range first {
			if second[voter] {
				shared++
			}
		}
		if least := quorum.Intersection(n, a, b); shared < least {
			t.Fatalf("%d and %d of %d share %d, want at least %d", a, b, n, shared, least)
		}
	})
}

func TestOutcomesHaveNames(t *testing.T) {
	for outcome, want := range map[quorum.Outcome]string{
		quorum.Open: "open", quorum.Won: "won", quorum.Lost: "lost", 7: "Outcome(7)",
	} {
		if got := outcome.String(); got != want {
			t.Errorf("%d is %q, want %q", int(outcome), got, want)
		}
	}
}

func ExampleValid() {
	fmt.Println(quorum.Valid(5, 3))
	fmt.Println(quorum.Valid(5, 2))
	fmt.Println(quorum.Valid(5, 6))
	// Output:
	// <nil>
	// a quorum of 2 out of 5 is too small: two of them may have no voter in common; the least is 3
	// a quorum of 6 out of 5 can never be reached; the most is 5
}
