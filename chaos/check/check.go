// Package check makes a verdict of a history. It looks at what the observer and the resource saw, never at what a client
// says of itself, and is the same for histories from real servers and from a simulation.
//
// A verdict is about one run. That a run holds says that this run held.
package check

import "github.com/b6e7cabe/quorumlock/chaos"

// Verdict is what one run showed.
type Verdict struct {
	Overlaps    int // pairs of stays in the critical section, by different clients, that overlap in time
	LostUpdates int // accepted writes over a value that the writer had not read
	StaleWrites int // accepted writes with a token below the largest that the resource had seen
	Corruptions int // accepted writes that were either
	Refusals    int // operations that the guard refused
	Deadlocks   int // clients that gave up waiting
	TokenFaults int // grants whose fencing token is not unique, or below that of an earlier grant; no part of the Outcome
	Outcome     chaos.Outcome
}

// Judge makes the verdict of a run under a guard. A run that has not reached the state that it is about shows nothing.
func Judge(h chaos.History, guard chaos.Guard, reached bool) Verdict {
	var v Verdict
	for _, e := range h {
		switch e.Kind {
		case chaos.Wrote:
			v.LostUpdates += btoi(e.Lost)
			v.StaleWrites += btoi(e.Stale)
			v.Corruptions += btoi(e.Lost || e.Stale)
		case chaos.Refused:
			v.Refusals++
		case chaos.GaveUp:
			v.Deadlocks++
		}
	}
	v.Overlaps = overlaps(h)
	v.TokenFaults = tokenFaults(h)
	switch {
	case !reached:
		v.Outcome = chaos.Unreached
	case v.Corruptions > 0, v.Deadlocks > 0, guard == chaos.GuardNone && v.Overlaps > 0:
		v.Outcome = chaos.Breaks
	default:
		v.Outcome = chaos.Holds
	}
	return v
}

// overlaps counts, whenever a client comes in, the others that are inside. A client is inside from the moment in which
// the observer sees it being told that it has the lock until the observer sees it leave, stopped or not.
func overlaps(h chaos.History) int {
	n := 0
	inside := map[string]bool{}
	for _, e := range h {
		switch e.Kind {
		case chaos.Acquired:
			delete(inside, e.Actor)
			n += len(inside)
			inside[e.Actor] = true
		case chaos.Left:
			delete(inside, e.Actor)
		}
	}
	return n
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
