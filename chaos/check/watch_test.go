package check

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// scripted are masters that answer as the test says, each after a time.
type scripted struct {
	clock   *clock.Virtual
	takes   time.Duration
	answers []redlock.Reply
}

func (s *scripted) Len() int { return 5 }

func (s *scripted) Send(context.Context, redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		for _, r := range s.answers {
			s.clock.Advance(s.takes)
			if !yield(r) {
				return
			}
		}
	}
}

func TestAWatchKnowsWhatAMajorityHasGranted(t *testing.T) {
	const ms = time.Millisecond
	yes, no, silent := redlock.Reply{}, redlock.Reply{Status: redlock.Gone}, redlock.Reply{Err: context.DeadlineExceeded}
	for _, test := range []struct {
		name    string
		acquire []redlock.Reply
		extend  []redlock.Reply
		left    time.Duration // of a validity of 100 ms, less 1 ms for each answer since it was asked, and for 3 others
	}{
		{"a majority, counted from before it was asked", []redlock.Reply{yes, yes, yes}, nil, 94 * ms},
		{"no majority", []redlock.Reply{yes, yes, silent, no}, nil, 0},
		{"an extension counts from its own question", []redlock.Reply{yes, yes, yes}, []redlock.Reply{yes, yes, yes}, 97 * ms},
		{"one by a minority does not count", []redlock.Reply{yes, yes, yes}, []redlock.Reply{yes, silent, silent, yes}, 90 * ms},
		{"a majority that does not know the key ends it", []redlock.Reply{yes, yes, yes}, []redlock.Reply{no, no, no}, 0},
	} {
		c := clock.NewVirtual(time.Now())
		masters := &scripted{clock: c, takes: ms}
		w := &Watch{Masters: masters, Clock: c, Validity: 100 * ms}
		ask := func(op redlock.Op, value string, answers []redlock.Reply) {
			masters.answers = answers
			for range w.Send(t.Context(), redlock.Command{Op: op, Value: value}) {
			}
		}
		ask(redlock.OpAcquire, "first", []redlock.Reply{yes, yes, yes, yes, yes})
		ask(redlock.OpAcquire, "second", test.acquire)
		ask(redlock.OpExtend, "first", []redlock.Reply{yes, yes, yes}) // of another attempt: it says nothing
		if test.extend != nil {
			ask(redlock.OpExtend, "second", test.extend)
		}
		if got := max(w.Left(), 0); got != test.left {
			t.Errorf("%s: %v left, want %v", test.name, got, test.left)
		}
	}
}
