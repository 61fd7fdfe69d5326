package quorum

// Tally counts the votes of one round. It is made by NewTally, is for one
// goroutine at a time, and must not be copied once it has counted a vote.
type Tally struct {
	n, need int
	yes, no int
	voted   uint64   // bit v: voter v < 64 has voted
	more    []uint64 // the same for the voters from 64 on
}

// NewTally is an empty tally of n voters, 0 .. n-1, of whom need must say yes.
// It counts for any need, majority or not: Valid is what tells a quorum from a
// mere number. A need above n is Lost from the start; a need below 1 counts as
// 1, so that nothing is ever won without a vote.
func NewTally(n, need int) Tally {
	t := Tally{n: max(n, 0), need: max(need, 1)}
	if t.n > 64 {
		t.more = make([]uint64, (t.n-1)/64)
	}
	return t
}

// Add counts one vote, and reports whether it counted. The first vote of a
// voter stands: later ones, and those of voters outside 0 .. n-1, are ignored.
func (t *Tally) Add(voter int, yes bool) bool {
	if voter < 0 || voter >= t.n {
		return false
	}
	word := &t.voted
	if voter >= 64 {
		word = &t.more[voter/64-1]
	}
	bit := uint64(1) << (voter % 64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	if yes {
		t.yes++
	} else {
		t.no++
	}
	return true
}

// Outcome says what the votes so far have settled.
func (t *Tally) Outcome() Outcome {
	switch {
	case t.yes >= t.need:
		return Won
	case t.yes+t.Pending() < t.need:
		return Lost
	}
	return Open
}

// Won reports whether the quorum has said yes.
func (t *Tally) Won() bool { return t.Outcome() == Won }

// Lost reports whether the quorum can no longer be reached.
func (t *Tally) Lost() bool { return t.Outcome() == Lost }

// Decided reports whether no further vote can change the outcome.
func (t *Tally) Decided() bool { return t.Outcome() != Open }

// Yes is the number of voters who said yes.
func (t *Tally) Yes() int { return t.yes }

// No is the number of voters who said no.
func (t *Tally) No() int { return t.no }

// Pending is the number of voters who have not voted.
func (t *Tally) Pending() int { return t.n - t.yes - t.no }
