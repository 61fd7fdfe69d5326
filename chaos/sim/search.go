package sim

import (
	"slices"
	"strconv"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Finding is what a search through the plans of a cell came to.
type Finding struct {
	Runs        int
	Events      int
	Reached     int // runs in which a fault struck while the lock was held or wanted
	Overlaps    int
	Corruptions int
	Refusals    int
	Starved     int   // runs in which somebody gave up waiting
	Worst       *Plan // what breaks, made short; nil if nothing does
	badness     int   // of Worst
}

// Search plays the plans of the seeds from first, every stride-th, until one does damage or n have been played. What
// breaks in a lesser way is kept in case that nothing worse is found.
func (c Cell) Search(first, stride uint64, n int) (f Finding) {
	var r Runner
	defer r.Close()
	for i := range n {
		plan := c.Draw(first + uint64(i)*stride)
		o := r.Run(c.Scheme, plan, nil)
		f.count(o)
		if how := badness(o); how > f.badness {
			f.badness, f.Worst = how, &plan
		}
		if f.badness == worst {
			break
		}
	}
	if f.Worst != nil {
		short := r.shrink(c.Scheme, *f.Worst, f.badness)
		f.Worst = &short
	}
	return f
}

// worst is how bad damage at the resource is. Below that there are a lock that nobody gets any more, and two clients
// inside at once who happen to do no harm.
const worst = 3

func badness(o Outcome) int {
	switch v := o.Verdict; {
	case v.Outcome != chaos.Breaks:
		return 0
	case v.Corruptions > 0:
		return worst
	case v.Deadlocks > 0:
		return 2
	}
	return 1
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

// shrink leaves out of a plan whatever it is as bad without: clients, rounds, faults.
func (r *Runner) shrink(scheme chaos.Scheme, plan Plan, how int) Plan {
	for smaller := r.smaller(scheme, plan, how); smaller != nil; smaller = r.smaller(scheme, plan, how) {
		plan = *smaller
	}
	return plan
}

// smaller returns a plan with one thing less that is as bad, nil if there is none.
func (r *Runner) smaller(scheme chaos.Scheme, plan Plan, how int) *Plan {
	for i := range plan.Faults {
		p := plan
		p.Faults = slices.Delete(slices.Clone(plan.Faults), i, i+1)
		if badness(r.Run(scheme, p, nil)) >= how {
			return &p
		}
	}
	if plan.Work > 0 {
		p := plan
		p.Work = 0
		if found := r.near(scheme, p, how); found != nil {
			return found
		}
	}
	if plan.Rounds > 1 {
		p := plan
		p.Rounds--
		if found := r.near(scheme, p, how); found != nil {
			return found
		}
	}
	if plan.Clients > 2 {
		p := plan
		p.Clients--
		p.Faults = slices.Clone(plan.Faults)
		for i := range p.Faults {
			if p.Faults[i].Client == strconv.Itoa(plan.Clients) {
				p.Faults[i].Client = "1"
			}
		}
		return r.near(scheme, p, how)
	}
	return nil
}

// near looks for a plan that is as bad among those like the given one: with less to do in it, everything happens
// earlier, and with other delays.
func (r *Runner) near(scheme chaos.Scheme, plan Plan, how int) *Plan {
	const seeds = 8
	last := 0
	for _, f := range plan.Faults {
		last = max(last, f.Step)
	}
	for seed := range uint64(seeds) {
		for earlier := range max(last, 1) {
			p := plan
			if seed > 0 {
				p.Seed = seed - 1
			}
			p.Faults = slices.Clone(plan.Faults)
			for i := range p.Faults {
				p.Faults[i].Step = max(p.Faults[i].Step-earlier, 1)
			}
			if badness(r.Run(scheme, p, nil)) >= how {
				return &p
			}
		}
	}
	return nil
}
