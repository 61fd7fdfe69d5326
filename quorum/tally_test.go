package quorum_test

import (
	"fmt"
	"testing"

	"github.com/b6e7cabe/quorumlock/quorum"
	"pgregory.net/rapid"
)

// A tally and a naive one, which keeps the votes in a map and tries every way
// in which the pending voters might still vote, agree after every vote.
func TestATallyAgreesWithANaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(60, 70), rapid.IntRange(120, 300)).Draw(t, "voters")
		need := rapid.IntRange(-1, n+2).Draw(t, "need")
		tally := quorum.NewTally(n, need)
		votes := make(map[int]bool)
		settled := quorum.Open
		check := func() {
			yes, no := 0, 0
			for _, vote := range votes {
				if vote {
					yes++
				} else {
					no++
				}
			}
			if tally.Yes() != yes || tally.No() != no || tally.Pending() != n-len(votes) {
				t.Fatalf("%d yes, %d no, %d pending; want %d, %d, %d", tally.Yes(), tally.No(), tally.Pending(), yes, no, n-len(votes))
			}
			worst, best := yes >= max(need, 1), n-no >= max(need, 1)
			want := quorum.Open
			if worst {
				want = quorum.Won
			} else if !best {
				want = quorum.Lost
			}
			if got := tally.Outcome(); got != want {
				t.Fatalf("%v after %d yes and %d no of %d, need %d; want %v", got, yes, no, n, need, want)
			}
			if settled != quorum.Open && tally.Outcome() != settled {
				t.Fatalf("%v after it was %v", tally.Outcome(), settled)
			}
			settled = tally.Outcome()
			if tally.Won() != (want == quorum.Won) || tally.Lost() != (want == quorum.Lost) || tally.Decided() != (want != quorum.Open) {
				t.Fatalf("%v, but won %v, lost %v, decided %v", want, tally.Won(), tally.Lost(), tally.Decided())
			}
		}
		check()
		voter := rapid.IntRange(-2, n+2)
		for range rapid.IntRange(0, 2*n+4).Draw(t, "votes") {
			v, yes := voter.Draw(t, "voter"), rapid.Bool().Draw(t, "yes")
			_, again := votes[v]
			counts := v >= 0 && v < n && !again
			if got := tally.Add(v, yes); got != counts {
				t.Fatalf("Add(%d) = %v", v, got)
			}
			if counts {
				votes[v] = yes
			}
			check()
		}
	})
}

func TestTheFirstVoteStands(t *testing.T) {
	for _, n := range []int{5, 64, 65, 1000} {
		tally := quorum.NewTally(n, n)
		for voter := range n {
			if !tally.Add(voter, true) {
				t.Errorf("of %d: the vote of %d did not count", n, voter)
			}
			if tally.Add(voter, false) {
				t.Errorf("of %d: the second vote of %d counted", n, voter)
			}
		}
		if !tally.Won() || tally.Yes() != n || tally.No() != 0 {
			t.Errorf("of %d: %v with %d yes and %d no", n, tally.Outcome(), tally.Yes(), tally.No())
		}
	}
}

func TestNothingIsWonWithoutAVote(t *testing.T) {
	for _, need := range []int{0, -1} {
		if tally := quorum.NewTally(3, need); tally.Won() {
			t.Errorf("a need of %d is met by nobody", need)
		}
	}
	for _, n := range []int{0, -1} {
		tally := quorum.NewTally(n, 0)
		if !tally.Lost() || tally.Pending() != 0 || tally.Add(0, true) {
			t.Errorf("%d voters: %v, %d pending", n, tally.Outcome(), tally.Pending())
		}
	}
}

func TestCountingARoundOfFiveAllocatesNothing(t *testing.T) {
	if got := testing.AllocsPerRun(100, func() {
		tally := quorum.NewTally(5, 3)
		for voter := 0; !tally.Decided(); voter++ {
			tally.Add(voter, true)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkTally(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tally := quorum.NewTally(5, 3)
		for voter := 0; !tally.Decided(); voter++ {
			tally.Add(voter, voter != 1)
		}
	}
}

func ExampleTally() {
	tally := quorum.NewTally(5, 3)
	for _, vote := range []struct {
		voter int
		yes   bool
	}{{4, true}, {0, false}, {4, true}, {2, true}, {1, true}} {
		counted := tally.Add(vote.voter, vote.yes)
		fmt.Println(vote.voter, counted, tally.Outcome())
	}
	fmt.Println(tally.Yes(), "yes,", tally.No(), "no,", tally.Pending(), "pending")
	// Output:
	// 4 true open
	// 0 true open
	// 4 false open
	// 2 true open
	// 1 true won
	// 3 yes, 1 no, 1 pending
}
