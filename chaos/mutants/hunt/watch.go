package main

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// watch stands around one client: it hears every question and every answer, and knows from them what the client may
// believe. It is its Masters, and its scheme's Locker.
type watch struct {
	trial  *trial
	env    chaos.Env
	client *redlock.Client
	grants []*grant // one for each attempt, in order
}

// grant is what one attempt to acquire has come to, as the answers of the masters tell. Times are by the client's clock.
type grant struct {
	check.Belief
	name      string
	limit     time.Duration     // of extension
	confirmed bool              // its token, or that was tried
	open      [masterCount]int  // requests that may set the key and have not been answered
	released  [masterCount]bool // the master has confirmed a release
}

func (w *watch) now() time.Duration { return w.env.Clock.Now().Boot }

// left is for how long the client may rely on the grant.
func (w *watch) left(g *grant) time.Duration {
	return min(g.Left(w.now()), g.limit-w.now())
}

// Len implements redlock.Masters.
func (w *watch) Len() int { return masterCount }

// Send implements redlock.Masters.
func (w *watch) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		r := w.ask(cmd)
		for reply := range w.env.Masters.Send(ctx, cmd) {
			if reply.Err == nil {
				r.hear(reply)
			}
			if !yield(reply) {
				return
			}
		}
	}
}

// round is one question to the masters.
type round struct {
	check.Round
	cmd   redlock.Command
	grant *grant
}

func (w *watch) ask(cmd redlock.Command) *round {
	r := &round{cmd: cmd}
	switch cmd.Op {
	case redlock.OpAcquire:
		r.grant = w.begin(cmd)
	default:
		r.grant = w.grantOf(cmd.Value)
	}
	r.Round = r.grant.Ask(cmd.Op, masterCount, w.env.Clock, cmd.TTL-drift(cmd.TTL))
	switch cmd.Op {
	case redlock.OpAcquire, redlock.OpRepair:
		for node := range r.grant.open {
			if cmd.Nodes == nil || slices.Contains(cmd.Nodes, node) {
				r.grant.open[node]++
			}
		}
	case redlock.OpConfirm:
		r.grant.confirmed = true
	case redlock.OpExtend:
		w.lookAround(r.grant)
	}
	return r
}

// begin notes that an attempt begins.
func (w *watch) begin(cmd redlock.Command) *grant {
	g := &grant{Belief: check.Belief{Value: cmd.Value}, name: cmd.Name, limit: math.MaxInt64}
	if extend := w.trial.search.extend; extend > 0 {
		g.limit = w.now() + extend
	}
	w.grants = append(w.grants, g)
	if len(w.grants) <= w.trial.search.repeats {
		w.repeat(cmd)
	}
	return g
}

// grantOf returns the last attempt that had the value.
func (w *watch) grantOf(value string) *grant {
	for _, g := range slices.Backward(w.grants) {
		if g.Value == value {
			return g
		}
	}
	return new(grant) // a value that no attempt had: nothing is known to be granted
}

// hear takes in a master's answer, before the client does.
func (r *round) hear(reply redlock.Reply) {
	r.Hear(reply)
	g := r.grant
	switch r.cmd.Op {
	case redlock.OpAcquire, redlock.OpRepair:
		g.open[reply.Node]--
	case redlock.OpRelease:
		g.released[reply.Node] = true
	}
}

// drift is the documented default, by which validity is shorter than the TTL.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// repeat has the shared master carry out the request a second time, some time later: the reply to the first was lost, and
// a client library or a proxy on the way asked again.
func (w *watch) repeat(cmd redlock.Command) {
	var b [1]byte
	w.env.Random.Read(b[:])
	cmd.Nodes = []int{shared}
	w.env.Clock.AfterFunc(time.Duration(b[0])*time.Millisecond, func() {
		for range w.env.Masters.Send(context.Background(), cmd) {
			// nobody waits for this answer
		}
	})
}

// Acquire implements chaos.Locker.
func (w *watch) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	t := w.trial
	before := t.largest
	lock, err := w.client.TryAcquire(ctx, name)
	if len(w.grants) == 0 {
		return nil, err // it was not even tried
	}
	g := w.grants[len(w.grants)-1]
	if err != nil {
		if t.search.tidy == noKey {
			w.lookLater(g, 1)
		}
		return nil, err
	}
	switch token := lock.Token(); {
	case token == 0:
		t.violated(tokens, "a grant without a token")
	case t.granted[token]:
		t.violated(tokens, "token %d was granted twice", token)
	case token <= before:
		t.violated(tokens, "token %d was granted after %d had been", token, before)
	}
	t.largest = max(t.largest, lock.Token())
	t.granted[lock.Token()] = true
	if late := w.now() - g.Granted; late > 0 && !g.confirmed {
		t.violated(progress, "the lock was granted %v after a quorum had", late)
	}
	if w.left(g) <= 0 {
		t.violated(validity, "the lock was granted %v after its validity had ended", -w.left(g))
	}
	h := &hold{Lock: lock, watch: w, grant: g}
	t.holds = append(t.holds, h)
	h.told(lock.Remaining())
	h.awaitEnd()
	return h, nil
}
