package sim

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/b6e7cabe/quorumlock/chaos"
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

// Under any mixture of faults the guard that sees all operations holds for redlock. (The faults include no clock of a client
// that runs backwards: with lost memory that is the documented double fault, for which see the next test.)
func TestGuardAllHoldsUnderAnyFaults(t *testing.T) {
	s := scheme(t, "redlock")
	var r Runner
	defer r.Close()
	rapid.Check(t, func(t *rapid.T) {
		plan := plans(s, chaos.GuardAll).Draw(t, "plan")
		if o := r.Run(s, plan, nil); o.Verdict.Corruptions > 0 {
			t.Fatalf("make replay PLAN='%v'\n%s", plan, retell(Story(o.History)))
		}
	})
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

// Without a guard, and with a guard on writes alone, rapid finds damage, and makes its story short.
func TestLesserGuardsBreakUnderSomeFaults(t *testing.T) {
	s := scheme(t, "redlock")
	for _, guard := range []chaos.Guard{chaos.GuardNone, chaos.GuardWrites} {
		var r Runner
		defer r.Close()
		var last Plan
		record := &recorder{TB: t}
		for range 100 { // times rapid's own number of checks
			rapid.Check(record, func(t *rapid.T) {
				plan := plans(s, guard).Draw(t, "plan")
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
			t.Fatalf("guard %s: rapid found no damage", guard)
		}
		story := Story(Run(s, last, nil).History)
		t.Logf("guard %s: make replay PLAN='%v'\n%s", guard, last, retell(story))
		if len(story) > 12 {
			t.Errorf("guard %s: the story has %d steps", guard, len(story))
		}
	}
}
