package check

import (
	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// tokenFaults counts the grants whose token an earlier grant had too, or is smaller than that of a grant that had been
// made when this one was asked for (Kleppmann, "Making the lock safe with fencing": the number increases every time a
// client acquires the lock). Grants that overlap in time are promised no order. A token of 0 is none at all.
func tokenFaults(h chaos.History) int {
	n := 0
	granted := map[redlock.Token]bool{}
	var largest redlock.Token
	before := map[string]redlock.Token{} // the largest when a client asked
	for _, e := range h {
		switch {
		case e.Kind == chaos.Asked:
			before[e.Actor] = largest
		case e.Kind == chaos.Acquired && e.Token != 0:
			n += btoi(granted[e.Token] || e.Token < before[e.Actor])
			granted[e.Token] = true
			largest = max(largest, e.Token)
		}
	}
	return n
}
