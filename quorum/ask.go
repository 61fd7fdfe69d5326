package quorum

import (
	"context"
	"iter"
	"sync/atomic"
)

// Ask asks the voters 0 .. voters-1, all at once, and yields their answers in
// the order in which they arrive.
//
// Ranging over it first calls ask once for every voter, in order, in the
// caller's goroutine. ask must not block: it arranges for answer to be called,
// then or later, from any goroutine. answer never blocks and never has to be
// called; a voter's second answer is dropped, and so are answers that come
// when the loop is over.
//
// The loop ends when every voter has answered or ctx is over, whichever comes
// first; answers that were there before ctx ended are still yielded. If ctx is
// over before the loop begins, nobody is asked. Ending early, by break or ctx,
// leaves nothing behind: Ask starts no goroutine. Each range over the sequence
// is a round of its own.
func Ask[T any](ctx context.Context, voters int, ask func(voter int, answer func(T))) iter.Seq2[int, T] {
	type reply struct {
		voter int
		value T
	}
	return func(yield func(int, T) bool) {
		if voters < 1 || ctx.Err() != nil {
			return
		}
		// With room for one answer of each voter no answer can block, however
		// long after the end of the loop it comes.
		replies := make(chan reply, voters)
		answered := make([]atomic.Bool, voters)
		for voter := range voters {
			ask(voter, func(value T) {
				if !answered[voter].Swap(true) {
					replies <- reply{voter, value}
				}
			})
		}
		for range voters {
			var r reply
			select {
			case r = <-replies:
			case <-ctx.Done():
				select {
				case r = <-replies:
				default:
					return
				}
			}
			if !yield(r.voter, r.value) {
				return
			}
		}
	}
}
