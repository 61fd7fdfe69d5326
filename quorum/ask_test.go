package quorum_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/b6e7cabe/quorumlock/quorum"
	"pgregory.net/rapid"
)

func TestEveryAnswerIsYieldedOnceInOrderOfArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "voters")
		voters := make([]int, n)
		for i := range voters {
			voters[i] = i
		}
		order := rapid.Permutation(voters).Draw(t, "order of arrival")
		atOnce := rapid.IntRange(0, n).Draw(t, "answers that come while asking")
		doubled := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "answers twice")
		breakAfter := rapid.IntRange(-1, n).Draw(t, "break after")

		answers := make([]func(string), 0, n)
		reply := func(voter int) {
			answers[voter](fmt.Sprint("first of ", voter))
			if doubled[voter] {
				answers[voter](fmt.Sprint("second of ", voter))
			}
		}
		next := 0 // into order
		var asked, got []int
		sequence := quorum.Ask(context.Background(), n, func(voter int, answer func(string)) {
			asked = append(asked, voter)
			answers = append(answers, answer)
			if len(answers) == n {
				for ; next < atOnce; next++ {
					reply(order[next])
				}
				if next == 0 {
					reply(order[next])
					next++
				}
			}
		})
		for voter, value := range sequence {
			if want := fmt.Sprint("first of ", voter); value != want {
				t.Fatalf("voter %d answered %q", voter, value)
			}
			got = append(got, voter)
			if len(got) == breakAfter {
				break
			}
			if next < n {
				reply(order[next])
				next++
			}
		}
		want := order
		if breakAfter > 0 {
			want = order[:min(breakAfter, n)]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("yielded %v, want %v", got, want)
		}
		if !slices.Equal(asked, voters) {
			t.Fatalf("asked %v", asked)
		}
		for voter := range answers {
			reply(voter) // must be dropped, and must not block
		}
	})
}

func TestAnswersFromManyGoroutinesAreEachYieldedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "voters")
		enough := rapid.IntRange(1, n).Draw(t, "enough")
		var voting sync.WaitGroup
		seen := make([]bool, n)
		count := 0
		for voter, value := range quorum.Ask(context.Background(), n, func(voter int, answer func(int)) {
			for range 2 {
				voting.Go(func() { answer(voter * voter) })
			}
		}) {
			if seen[voter] || value != voter*voter {
				t.Fatalf("voter %d: seen before %v, answer %d", voter, seen[voter], value)
			}
			seen[voter] = true
			if count++; count == enough {
				break
			}
		}
		if count != enough {
			t.Fatalf("%d answers, want %d", count, enough)
		}
		voting.Wait() // hangs if a late answer blocks
	})
}

func TestTheLoopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var late []func(int)
		var got []int
		for voter := range quorum.Ask(ctx, 5, func(voter int, answer func(int)) {
			if voter == 3 {
				answer(0)
				return
			}
			late = append(late, answer)
		}) {
			got = append(got, voter)
			go func() {
				synctest.Wait() // until the loop waits for the others
				cancel()
			}()
		}
		if !slices.Equal(got, []int{3}) {
			t.Errorf("yielded %v, want [3]", got)
		}
		for _, answer := range late {
			answer(0)
		}
	})
}

func TestAnswersThatWereThereBeforeTheContextEndedAreYielded(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var got []int
		for voter := range quorum.Ask(ctx, 5, func(voter int, answer func(int)) {
			if voter < 4 {
				answer(0)
			} else {
				cancel()
			}
		}) {
			got = append(got, voter)
		}
		if !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Fatalf("yielded %v", got)
		}
	}
}

func TestNobodyIsAskedInVain(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	refuse := func(voter int, _ func(int)) { t.Errorf("asked voter %d", voter) }
	for range quorum.Ask(ended, 5, refuse) {
		t.Error("an answer of nobody")
	}
	for _, n := range []int{0, -1} {
		for range quorum.Ask(context.Background(), n, refuse) {
			t.Error("an answer of nobody")
		}
	}
	quorum.Ask(context.Background(), 5, refuse) // nobody ranges over it
}

func TestEachRangeIsARoundOfItsOwn(t *testing.T) {
	rounds := 0
	sequence := quorum.Ask(context.Background(), 3, func(voter int, answer func(int)) {
		if voter == 0 {
			rounds++
		}
		answer(rounds)
	})
	for want := 1; want <= 2; want++ {
		count := 0
		for _, round := range sequence {
			if round != want {
				t.Errorf("round %d yields an answer of round %d", want, round)
			}
			count++
		}
		if count != 3 {
			t.Errorf("round %d: %d answers", want, count)
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	for name, ctx := range map[string]context.Context{"Background": context.Background(), "WithCancel": b.Context()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tally := quorum.NewTally(5, 3)
				for voter, yes := range quorum.Ask(ctx, 5, func(_ int, answer func(bool)) { answer(true) }) {
					if tally.Add(voter, yes); tally.Decided() {
						break
					}
				}
			}
		})
	}
}

func ExampleAsk() {
	tally := quorum.NewTally(5, 3)
	for voter, yes := range quorum.Ask(context.Background(), 5, func(voter int, answer func(bool)) {
		answer(voter != 1) // a real voter would answer later
	}) {
		tally.Add(voter, yes)
		fmt.Println(voter, yes, tally.Outcome())
		if tally.Decided() {
			break
		}
	}
	// Output:
	// 0 true open
	// 1 false open
	// 2 true open
	// 3 true won
}
