package chaos

import (
	"cmp"
	"slices"
	"time"
)

// A Scenario is a named script of faults and client steps, with its source and its expected verdicts.
type Scenario struct {
	Name   string
	Source string // whose argument it is, by section
	About  string // one line

	// TTL is the lease that the schemes use in it.
	TTL time.Duration

	// Durable masters keep what they have answered across a restart; Everysec ones write it to disk once a second.
	// Without either they keep nothing.
	Durable, Everysec bool

	// Workload and Items are what the clients do, and with how much; the zero values are a counter's.
	Workload Workload
	Items    int

	// Expect says for each scheme that the scenario is about what must come of it under each guard that it is about.
	Expect map[string]Expectation

	// Play carries out the steps. It stops at the first that did not come about: then the run is not reached.
	Play func(*Stage)
}

// Load is the workload.
func (s Scenario) Load() Workload { return cmp.Or(s.Workload, Counter) }

// Guards are those under which the scenario is to be played for a scheme.
func (s Scenario) Guards(scheme string) []Guard {
	all := append(Guards(), GuardMark)
	return slices.DeleteFunc(all, func(g Guard) bool { return s.Expect[scheme][g] == "" })
}

// Expectation is an outcome per guard.
type Expectation map[Guard]Outcome

// Outcome is what a run showed.
type Outcome string

const (
	// Holds: nothing of that.
	Holds Outcome = "holds"
	// Breaks: damage, or a client that waited for fifty leases in vain, or a key that nobody has, or without a guard two
	// clients inside at once.
	Breaks Outcome = "breaks"
	// Unreached: the run did not get to the state that it is about, so it shows nothing.
	Unreached Outcome = "unreached"
)

// Everywhere expects the same under every guard.
func Everywhere(o Outcome) Expectation {
	return Expectation{GuardNone: o, GuardWrites: o, GuardAll: o, GuardCAS: o}
}

// GuardsHold expects damage without a guard, and none with.
func GuardsHold() Expectation {
	return Expectation{GuardNone: Breaks, GuardWrites: Holds, GuardAll: Holds, GuardCAS: Holds}
}

// ForEver expects a client that waits in vain. No guard is asked then, so it is played without.
func ForEver() Expectation { return Expectation{GuardNone: Breaks} }

// OnlyAllHolds expects that of the guards that look at tokens, that of writes alone is not enough.
func OnlyAllHolds() Expectation {
	return Expectation{GuardNone: Breaks, GuardWrites: Breaks, GuardAll: Holds, GuardCAS: Holds}
}

// TokensFail expects that no token helps, because there is none or because it repeats; versions do.
func TokensFail() Expectation {
	return Expectation{GuardNone: Breaks, GuardWrites: Breaks, GuardAll: Breaks, GuardCAS: Holds}
}
