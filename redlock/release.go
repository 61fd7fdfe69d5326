package redlock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// Release gives the lock up. It always asks every master, also when ctx has ended: ctx bounds only how long the caller
// waits, and masters that do not confirm are asked again in the background until a TTL has passed since they were last
// asked to keep the key. (Of more than 1,024 such locks at a time, some are left to expire.)
//
// It returns nil once a quorum has deleted our key, or is known not to have it while nothing says that we lost it
// before. Otherwise: ErrExpired if the lease had ended and the keys were gone, ErrLost if a quorum holds another's value
// (which is left alone), ErrNoQuorum if too few masters answered (then Release may be called again), ErrReleased if the
// lock had been released before, or ctx's error.
func (l *Lock) Release(ctx context.Context) error {
	if ctx == nil {
		return invalid("the context is nil")
	}
	h := l.hold
	if ctx.Value(holdKey{h.client, l.Name()}) == h {
		ctx = context.WithoutCancel(ctx) // the lock's own context: it ends right here
	}
	h.mu.Lock()
	switch {
	case l.released || h.released:
		h.mu.Unlock()
		return h.failure(ErrReleased)
	case h.handles > 1:
		h.handles--
		l.released = true
		h.mu.Unlock()
		if l.cancel != nil {
			l.cancel(h.failure(ErrReleased))
		}
		return nil
	}
	h.mu.Unlock()

	h.end(ErrReleased)
	h.interrupt(true)
	var result error
	if !h.client.detach(ctx, func(settle func()) {
		h.release(func(err error) { result = err; settle() })
	}) {
		return contextError(ctx, "release", l.Name())
	}
	return result
}

// release makes one round, reports as soon as the outcome is known, and follows up on the stragglers.
func (h *hold) release(report func(error)) {
	c, s := h.client, h.settings
	h.turn.take(context.Background(), s.clock)
	h.mu.Lock()
	over, again := h.released, h.attempts > 0
	h.attempts++
	sent, acquired := h.sent, h.acquired
	h.mu.Unlock()
	if over {
		h.turn.give()
		report(h.failure(ErrReleased))
		return
	}

	cmd := h.cmd
	cmd.Op = OpRelease
	v := c.newVote(cmd, s)
	reported := false
	conclude := func() {
		reported = true
		err := released(v, again)
		h.mu.Lock()
		h.released = !errors.Is(err, ErrNoQuorum)
		h.mu.Unlock()
		if f := s.trace.Released; f != nil {
			f(cmd.Name, c.since(acquired), err)
		}
		report(err)
	}
	pending := c.sweep(cmd, func(r Reply) {
		v.add(r)
		if v.Won() && !reported {
			conclude()
		}
	})
	if !reported {
		conclude()
	}
	h.turn.give()
	c.followUp(cmd, pending, sent, s)
}

// released says what a round of releases came to. A key that is gone counts as deleted if we tried before, since the
// reply to that may have been lost.
func released(v *vote, again bool) error {
	done := v.Yes()
	if again {
		done += v.gone
	}
	switch {
	case done >= v.need:
		return nil
	case v.held >= v.need:
		return v.fail(ErrLost)
	case len(v.replies)-v.failed < v.need:
		return v.fail(ErrNoQuorum)
	case done+v.failed >= v.need:
		return nil
	}
	return v.fail(ErrExpired)
}

// undo takes back what a failed attempt may have left on the masters, except those that refused. The caller waits for
// those that are known to have granted, as long as its context allows.
func (c *Client) undo(ctx context.Context, cmd Command, start clock.Reading, grants *vote, s settings) {
	cmd.Op = OpRelease
	cmd.Nodes = grants.nodes(func(heard bool, r Reply) bool { return !heard || r.Err != nil || r.Status != Held })
	if len(cmd.Nodes) == 0 {
		return
	}
	granted := grants.nodes(func(heard bool, r Reply) bool { return heard && r.Err == nil && r.Status == Done })
	c.detach(ctx, func(settle func()) {
		if len(granted) == 0 {
			settle()
		}
		var doubtful []int
		pending := c.sweep(cmd, func(r Reply) {
			granted = slices.DeleteFunc(granted, func(node int) bool { return node == r.Node })
			if len(granted) == 0 {
				settle()
			}
			// An acquire that was given up may still be on its way over a connection of its own: that our key is not
			// there yet says nothing.
			if r.Err == nil && r.Status == Gone && grants.replies[r.Node].Err != nil {
				doubtful = append(doubtful, r.Node)
			}
		})
		pending = append(pending, doubtful...)
		c.followUp(cmd, pending, start, s)
	})
}

// sweep sends a release to cmd.Nodes, and returns those that did not confirm. No caller's context ends it; the node
// timeout does.
func (c *Client) sweep(cmd Command, each func(Reply)) (pending []int) {
	for reply := range c.masters.Send(context.Background(), cmd) {
		if reply.Err != nil {
			pending = append(pending, reply.Node)
		}
		each(reply)
	}
	return pending
}

const (
	maxFollowUpPause = time.Second
	maxFollowingUp   = 1024 // beyond that, the keys are left to expire
)

// followUp asks masters that have not confirmed a release again and again: a master that was stopped runs a late
// acquire when it goes on. It ends when all have confirmed, or a TTL after they were last asked to keep the key: one that
// is stopped for longer keeps it, at the most, for a TTL from when it goes on.
func (c *Client) followUp(cmd Command, pending []int, start clock.Reading, s settings) {
	if len(pending) == 0 || !c.mayFollow() {
		return
	}
	defer c.followed()
	for pause := cmd.Timeout; len(pending) > 0; pause = min(2*pause, maxFollowUpPause) {
		if c.since(start)+pause > s.ttl || s.clock.Sleep(c.life, pause) != nil {
			return
		}
		cmd.Nodes = pending
		pending = c.sweep(cmd, func(r Reply) {
			if f := s.trace.CleanedUp; f != nil && r.Err == nil {
				f(cmd.Name, r.Node)
			}
		})
	}
}

func (c *Client) mayFollow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.following >= maxFollowingUp {
		return false
	}
	c.following++
	return true
}

func (c *Client) followed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.following--
}
