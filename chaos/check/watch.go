package check

import (
	"context"
	"iter"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/quorum"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A Belief is what a client may believe of one attempt to acquire, by the questions that it has sent and the answers that
// it has heard. Times are readings of its boot-time clock.
type Belief struct {
	Value   string        // of the attempt
	Granted time.Duration // when a majority had granted it; 0 = not yet
	Until   time.Duration // when the validity ends that a majority has granted or extended
	Revoked bool          // a majority has answered to an extension that the key is not this client's any more
}

// Left is for how long the client may still rely on it.
func (b *Belief) Left(now time.Duration) time.Duration {
	if b.Revoked {
		return 0
	}
	return b.Until - now
}

// A Watch stands between a client and its masters, hears every question and every answer, and knows from them what the
// client may believe. It is for clients that ask for one lock at a time.
type Watch struct {
	redlock.Masters
	Clock    clock.Clock
	Validity time.Duration // of what a majority has granted, counted from before it was asked
	last     Belief
}

// Left is for how long the client may still rely on its last attempt.
func (w *Watch) Left() time.Duration { return w.last.Left(w.Clock.Now().Boot) }

// Send implements redlock.Masters.
func (w *Watch) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	if cmd.Op == redlock.OpAcquire {
		w.last = Belief{Value: cmd.Value}
	}
	if cmd.Value != w.last.Value || cmd.Op != redlock.OpAcquire && cmd.Op != redlock.OpExtend {
		return w.Masters.Send(ctx, cmd) // says nothing of how long
	}
	return func(yield func(redlock.Reply) bool) {
		r := w.last.Ask(cmd.Op, w.Len(), w.Clock, w.Validity)
		for reply := range w.Masters.Send(ctx, cmd) {
			r.Hear(reply)
			if !yield(reply) {
				return
			}
		}
	}
}

// A Round is one question to the masters, about a belief.
type Round struct {
	belief        *Belief
	op            redlock.Op
	clock         clock.Clock
	until         time.Duration // if a majority says yes
	majority      int
	done, refused int
}

// Ask notes that masters are asked, right now.
func (b *Belief) Ask(op redlock.Op, masters int, c clock.Clock, validity time.Duration) Round {
	return Round{belief: b, op: op, clock: c, until: c.Now().Boot + validity, majority: quorum.Majority(masters)}
}

// Hear takes in an answer, before the client does.
func (r *Round) Hear(reply redlock.Reply) {
	switch {
	case reply.Err != nil:
		return
	case reply.Status == redlock.Done:
		r.done++
	default:
		r.refused++
	}
	b := r.belief
	if r.op == redlock.OpExtend {
		b.Revoked = b.Revoked || r.refused == r.majority
	}
	prolongs := r.op == redlock.OpAcquire || r.op == redlock.OpExtend
	if prolongs && r.done == r.majority {
		b.Until = max(b.Until, r.until)
		if b.Granted == 0 {
			b.Granted = r.clock.Now().Boot
		}
	}
}
