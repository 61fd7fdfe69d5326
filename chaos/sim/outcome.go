package sim

import (
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
	h := w.record.History()
	reached := w.struck || len(w.plan.Faults) == 0
	return Outcome{History: h, Verdict: check.Judge(h, w.plan.Guard, reached), Events: w.kernel.events}
}
