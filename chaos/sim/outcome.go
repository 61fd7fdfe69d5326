package sim

import (
	"slices"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
)

// Outcome is what came of a run.
type Outcome struct {
	History chaos.History
	Verdict check.Verdict
	Events  int // of the event loop
}

func (w *World) outcome() Outcome {
	h := slices.Clone(w.history)
	terms := check.Terms{Guard: w.plan.Guard, Reached: w.struck || len(w.plan.Faults) == 0}
	if w.plan.onlyCrashes() {
		terms.Lease = freed
	}
	return Outcome{History: h, Verdict: check.Judge(h, terms), Events: w.kernel.events}
}

// freed is how long a client that dies may keep the lock from others ("Distributed locks with Redis", "Safety and Liveness
// Guarantees": deadlock free): its lease, the pause between two attempts of the others, and once more that long for one
// that comes to nothing because two of them met.
const freed = TTL + 4*retryPause

// onlyCrashes reports whether nothing else goes wrong that could keep the lock from anybody.
func (p Plan) onlyCrashes() bool {
	for _, i := range p.Faults {
		if i.Fault != "crash" {
			return false
		}
	}
	return true
}
