// Package check makes a verdict of a history. It looks at what the observer and the resource saw, never at what a client
// says of itself, and is the same for histories from real servers and from a simulation.
//
// A verdict is about one run. That a run holds says that this run held.
package check

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Verdict is what one run showed.
type Verdict struct {
	Overlaps    int // pairs of stays in the critical section, by different clients, that overlap in time
	LostUpdates int // accepted writes over a value that the writer had not read
	StaleWrites int // accepted writes with a token below the largest that the resource had seen
	Corruptions int // accepted writes that were either; under a guard that does not order tokens, only the first
	Repeated    int // accepted writes of a value that had been written before: see Repeated
	Refusals    int // operations that the guard refused
	Deadlocks   int // clients that gave up waiting
	Lingering   int // times that the lock of a client that had died was kept from others for longer than it may be
	Orphans     int // masters that were seen to keep the lock's key when nobody had it
	TokenFaults int // grants whose fencing token is not unique, or below that of an earlier grant
	Outcome     chaos.Outcome
}

// Terms are what a run is judged by.
type Terms struct {
	Guard   chaos.Guard
	Reached bool // it got to the state that it is about; else it shows nothing

	// Lease is for how long a client that died may keep the lock from others; 0 if that is not looked at.
	Lease time.Duration
}

// Judge makes the verdict of a run.
func Judge(h chaos.History, terms Terms) Verdict {
	var v Verdict
	ordered := terms.Guard == chaos.GuardNone || terms.Guard.UsesTokens()
	for _, e := range h {
		switch e.Kind {
		case chaos.Wrote:
			v.LostUpdates += btoi(e.Lost)
			v.StaleWrites += btoi(e.Stale)
			v.Corruptions += btoi(e.Lost || e.Stale && ordered)
		case chaos.Refused:
			v.Refusals++
		case chaos.GaveUp:
			v.Deadlocks++
		case chaos.Orphan:
			v.Orphans++
		}
	}
	v.Overlaps = overlaps(h)
	v.Repeated = Repeated(h)
	v.TokenFaults = tokenFaults(h)
	if terms.Lease > 0 {
		v.Lingering = lingering(h, terms.Lease)
	}
	switch {
	case !terms.Reached:
		v.Outcome = chaos.Unreached
	case v.Corruptions > 0, v.Repeated > 0, v.Deadlocks > 0, v.Lingering > 0, v.Orphans > 0,
		terms.Guard == chaos.GuardNone && v.Overlaps > 0,
		terms.Guard.UsesTokens() && v.TokenFaults > 0:
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
		case chaos.Left, chaos.Died:
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
