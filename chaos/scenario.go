package chaos

import "time"

// A Scenario is a named script of faults and client steps, with its source and its expected verdicts.
type Scenario struct {
	Name   string
	Source string // whose argument it is, by section
	About  string // one line

	// TTL is the lease that the schemes use in it.
	TTL time.Duration

	// Durable masters keep what they have answered across a restart.
	Durable bool

	// Expect says for each scheme that the scenario is about what must come of it under each guard.
	Expect map[string]Expectation

	// Play carries out the steps. It stops at the first that did not come about: then the run is not reached.
	Play func(*Stage)
}

// Expectation is an outcome per guard.
type Expectation map[Guard]Outcome

// Outcome is what a run showed.
type Outcome string

const (
	// Holds: nothing of that.
	Holds Outcome = "holds"
	// Breaks: damage, or a client that waited for fifty leases in vain, or without a guard two clients inside at once.
	Breaks Outcome = "breaks"
	// Unreached: the run did not get to the state that it is about, so it shows nothing.
	Unreached Outcome = "unreached"
	// Unknown is expected of what nobody has thought about: whatever comes of it is not unexpected.
	Unknown Outcome = ""
)

// Everywhere expects the same under every guard.
func Everywhere(o Outcome) Expectation {
	return Expectation{GuardNone: o, GuardWrites: o, GuardAll: o}
}

// GuardsHold expects damage without a guard, and none with.
func GuardsHold() Expectation {
	return Expectation{GuardNone: Breaks, GuardWrites: Holds, GuardAll: Holds}
}

// OnlyAllHolds expects that guarding the writes is not enough.
func OnlyAllHolds() Expectation {
	return Expectation{GuardNone: Breaks, GuardWrites: Breaks, GuardAll: Holds}
}
