package check

import "github.com/b6e7cabe/quorumlock/chaos"

// Repeated counts the accepted writes of a value that had been written before: an increment that is not in the final
// value, an item sold twice, a record overwritten. It looks at the values alone, so it is an account of the damage that
// owes nothing to what the register says of each write.
func Repeated(h chaos.History) int {
	n := 0
	written := map[int]bool{}
	for _, e := range h {
		if e.Kind == chaos.Wrote {
			n += btoi(written[e.Value])
			written[e.Value] = true
		}
	}
	return n
}
