package check

import (
	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// WrongRefusals counts the operations that the resource refused although it had accepted none with a larger token: a
// guard is to stop who was superseded, and nobody else.
func WrongRefusals(h chaos.History) int {
	n := 0
	var largest redlock.Token // accepted so far
	for _, e := range h {
		switch e.Kind {
		case chaos.Read, chaos.Wrote:
			largest = max(largest, e.Token)
		case chaos.Refused:
			n += btoi(e.Token >= largest)
		}
	}
	return n
}
