package sim

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// plans draws any combination of faults, at any steps: not one kind at a time, as a search does.
func plans(s chaos.Scheme, guard chaos.Guard) *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		p := Plan{
			Scheme: s.Name, Fault: "any", Guard: guard,
			Workload: rapid.SampledFrom(chaos.Workloads()).Draw(t, "workload"),
			Clients:  rapid.IntRange(2, 3).Draw(t, "clients"),
			Rounds:   rapid.IntRange(1, 2).Draw(t, "rounds"),
			Seed:     rapid.Uint64Range(0, 1000).Draw(t, "seed"),
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "faults") {
			kind := rapid.SampledFrom(injections).Draw(t, fmt.Sprintf("fault %d", i))
			f := Injection{
				Client: strconv.Itoa(rapid.IntRange(1, p.Clients).Draw(t, "client")),
				Step:   rapid.IntRange(1, 24).Draw(t, "step"),
				Fault:  kind.name,
			}
			if kind.onMaster {
				f.Node = string(rune('A' + rapid.IntRange(0, s.Masters-1).Draw(t, "master")))
			}
			if kind.amount != noAmount {
				f.Amount = time.Duration(rapid.IntRange(int(TTL/time.Millisecond), 3*int(TTL/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
			}
			p.Faults = append(p.Faults, f)
		}
		return p
	})
}

// Under any mixture of faults the guard that sees all operations holds for redlock, its tokens are unique and in order, and no
// client is told that it has the lock past its validity by its own clock. (The faults include no clock of a client
// that runs backwards: with lost memory that is the documented double fault, for which see the next test.)
func TestGuardAllHoldsUnderAnyFaults(t *testing.T) {
	s := scheme(t, "redlock")
	var r Runner
	defer r.Close()
	rapid.Check(t, func(t *rapid.T) {
		plan := plans(s, chaos.GuardAll).Draw(t, "plan")
		o := r.Run(s, plan, nil)
		if v := o.Verdict; v.Corruptions > 0 || v.Overdue > 0 || v.TokenFaults > 0 {
			t.Fatalf("make replay PLAN='%v'\n%s", plan, retell(Story(o.History)))
		}
	})
}

// drawn are dice that rapid throws: what it makes small is the schedule itself.
type drawn struct{ *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.T, "") }

func (d drawn) Perm(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return rapid.Permutation(all).Draw(d.T, "")
}

// recorder is a test that a property may fail.
type recorder struct {
	rapid.TB
	failed bool
}

func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) FailNow()              { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }

// For every scheme and fault: under the strongest guard that does not help, rapid must find a break, and makes its story
// short; under the weakest that does, it must find none. The schedules are drawn as a search draws them.
func TestEverySchemeBreaksUpToTheGuardThatHelps(t *testing.T) {
	for _, c := range boundaries() {
		t.Run(fmt.Sprintf("%s/%s/%s", c.Scheme.Name, c.Fault.Name, c.Guard), func(t *testing.T) {
			t.Parallel()
			switch c.Expected {
			case chaos.Holds:
				var r Runner
				defer r.Close()
				rapid.Check(t, func(t *rapid.T) {
					if plan, o := r.try(c, t); o.Verdict.Outcome == chaos.Breaks {
						t.Fatal(tell(c, plan))
					}
				})
			case chaos.Breaks:
				plan, found := c.counterexample(t)
				if !found {
					t.Fatal("rapid finds no break")
				}
				t.Log(tell(c, plan))
			default:
				t.Fatal("nothing is expected of this cell")
			}
		})
	}
}

// boundaries are, for each scheme and fault, the last cell that breaks and the first that holds, by the order of the guards.
func boundaries() (cells []Cell) {
	all := Cells(schemes.All(), Faults(), chaos.Guards(), "")
	for i, c := range all {
		first, last := c.Guard == chaos.Guards()[0], c.Guard == chaos.GuardCAS
		breaks := c.Expected == chaos.Breaks
		if breaks && (last || all[i+1].Expected != chaos.Breaks) || !breaks && (first || all[i-1].Expected == chaos.Breaks) {
			cells = append(cells, c)
		}
	}
	return cells
}

// try plays a schedule of rapid's.
func (r *Runner) try(c Cell, t *rapid.T) (Plan, Outcome) {
	plan := c.draw(drawn{t})
	plan.Seed = rapid.Uint64Range(0, 1000).Draw(t, "seed")
	return plan, r.Run(c.Scheme, plan, nil)
}

// counterexample has rapid look for a break, up to fifty times as long as it usually does, and make it small.
func (c Cell) counterexample(t *testing.T) (smallest Plan, found bool) {
	var r Runner
	defer r.Close()
	record := &recorder{TB: t}
	for range 50 {
		rapid.Check(record, func(t *rapid.T) {
			if plan, o := r.try(c, t); o.Verdict.Outcome == chaos.Breaks {
				smallest = plan // the last that rapid tries is the smallest
				t.Fatal("it breaks")
			}
		})
		if record.failed {
			return r.shrink(c.Scheme, smallest, badness(r.Run(c.Scheme, smallest, nil))), true
		}
	}
	return smallest, false
}

// tell is a run's story, with the command that tells it again.
func tell(c Cell, plan Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, plan.Replay())
	if err := Tell(&b, c.Scheme, plan); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// Under any mixture of faults a guard on writes alone does not save a read-modify-write.
func TestGuardWritesBreaksUnderSomeFaults(t *testing.T) {
	s := scheme(t, "redlock")
	var r Runner
	defer r.Close()
	var last Plan
	record := &recorder{TB: t}
	for range 100 {
		rapid.Check(record, func(t *rapid.T) {
			plan := plans(s, chaos.GuardWrites).Draw(t, "plan")
			if r.Run(s, plan, nil).Verdict.Corruptions > 0 {
				last = plan
				t.Fatal("damage")
			}
		})
		if record.failed {
			break
		}
	}
	if !record.failed {
		t.Fatal("rapid found no damage")
	}
	story := Story(Run(s, last, nil).History)
	t.Logf("%s\n%s", last.Replay(), retell(story))
	if len(story) > 12 {
		t.Errorf("the story has %d steps", len(story))
	}
}
