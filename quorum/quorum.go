package quorum

import "fmt"

// Majority is the size of the smallest majority of n voters, n/2 + 1: the
// smallest quorum of which any two have a voter in common.
func Majority(n int) int { return max(n, 0)/2 + 1 }

// Valid refuses a quorum of need out of n voters that is no quorum: one that
// two disjoint sets of voters could reach (need below n/2 + 1), and one that
// nobody can (need above n, or no voters at all).
func Valid(n, need int) error {
	switch least := Majority(n); {
	case n < 1:
		return fmt.Errorf("a quorum of %d needs voters, and there are %d", need, n)
	case need < least:
		return fmt.Errorf("a quorum of %d out of %d is too small: two of them may have no voter in common; the least is %d", need, n, least)
	case need > n:
		return fmt.Errorf("a quorum of %d out of %d can never be reached; the most is %d", need, n, n)
	}
	return nil
}

// Intersection is the least number of voters that any a and any b out of n
// voters have in common: a + b - n, or 0 where they may be disjoint. Sizes
// outside 0 .. n are taken as the nearest end of it.
func Intersection(n, a, b int) int {
	n = max(n, 0)
	a = min(max(a, 0), n)
	b = min(max(b, 0), n)
	return max(a-(n-b), 0)
}

// Outcome is what the votes counted so far have settled. Once it is Won or
// Lost no further vote changes it.
type Outcome int

const (
	Open Outcome = iota // both ends are still possible
	Won                 // enough voters said yes
	Lost                // too many said no: the pending voters cannot make a quorum any more
)

func (o Outcome) String() string {
	switch o {
	case Open:
		return "open"
	case Won:
		return "won"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}
