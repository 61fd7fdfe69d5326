package sim

import "github.com/b6e7cabe/quorumlock/chaos"

// Expected is what a search must find. A cell that breaks where it should hold is a bug in the lock or in the argument; one
// that holds where it should break was not searched for long enough, or is a bug in the harness.
func Expected(scheme, fault string, guard chaos.Guard) chaos.Outcome {
	if e, ok := expected[scheme][fault]; ok {
		return e[guard]
	}
	return chaos.Holds
}

var expected = map[string]map[string]map[chaos.Guard]chaos.Outcome{}
