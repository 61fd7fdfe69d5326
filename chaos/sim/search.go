package sim

import (
	"slices"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Finding is what a search through the plans of one scheme, fault and guard came to.
type Finding struct {
	Runs        int
	Events      int
	Reached     int // runs in which a fault struck while the lock was held or wanted
	Overlaps    int
	Corruptions int
	Refusals    int
	Starved     int   // runs in which somebody gave up waiting
	Worst       *Plan // the first that breaks, made short; nil if none does
}

// Search plays the plans of the seeds from first, every stride-th, until one breaks or n have been played.
func Search(scheme chaos.Scheme, fault Fault, guard chaos.Guard, first, stride uint64, n int) (f Finding) {
	var r Runner
	defer r.Close()
	for i := range n {
		plan := Draw(scheme, fault, guard, first+uint64(i)*stride)
		o := r.Run(scheme, plan, nil)
		f.count(o)
		if o.Verdict.Outcome == chaos.Breaks {
			short := Shrink(scheme, plan)
			f.Worst = &short
			break
		}
	}
	return f
}

func (f *Finding) count(o Outcome) {
	f.Runs++
	f.Events += o.Events
	if o.Verdict.Outcome != chaos.Unreached {
		f.Reached++
	}
	f.Overlaps += o.Verdict.Overlaps
	f.Corruptions += o.Verdict.Corruptions
	f.Refusals += o.Verdict.Refusals
	if o.Verdict.Deadlocks > 0 {
		f.Starved++
	}
}

// Shrink leaves out of a plan that breaks whatever it breaks without: clients, rounds, faults.
func Shrink(scheme chaos.Scheme, plan Plan) Plan {
	for smaller := smallerBreak(scheme, plan); smaller != nil; smaller = smallerBreak(scheme, plan) {
		plan = *smaller
	}
	return plan
}

// smallerBreak returns a plan with one thing less that still breaks, nil if there is none.
func smallerBreak(scheme chaos.Scheme, plan Plan) *Plan {
	var candidates []Plan
	if plan.Clients > 2 {
		p := plan
		p.Clients--
		candidates = append(candidates, p)
	}
	if plan.Rounds > 1 {
		p := plan
		p.Rounds--
		candidates = append(candidates, p)
	}
	for i := range plan.Faults {
		p := plan
		p.Faults = slices.Delete(slices.Clone(plan.Faults), i, i+1)
		candidates = append(candidates, p)
	}
	for _, p := range candidates {
		if Run(scheme, p, nil).Verdict.Outcome == chaos.Breaks {
			return &p
		}
	}
	return nil
}

// Story is the history of a run, without what a reader can do without.
func Story(h chaos.History) chaos.History {
	return slices.DeleteFunc(slices.Clone(h), func(e chaos.Event) bool {
		return e.Kind == chaos.Asked || e.Kind == chaos.Left
	})
}
