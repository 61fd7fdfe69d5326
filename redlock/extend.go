package redlock

import (
	"context"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// Extend prolongs the lease to a full TTL from now. It fails with ErrNoQuorum if too few masters answered (the old lease
// stands, and Extend may be tried again), with ErrExpired if the lease has ended or too few masters have the key any
// more, with ErrLost if others hold it, with ErrReleased after a release, or with ctx's error. It never creates a key
// that it did not find ours.
func (l *Lock) Extend(ctx context.Context) error {
	if ctx == nil {
		return invalid("the context is nil")
	}
	if err := l.Err(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return contextError(ctx, "extend", l.Name())
	}
	return l.hold.extend(ctx, clock.Forever)
}

// extend makes one round, for at most the given time from its start.
func (h *hold) extend(ctx context.Context, limit time.Duration) error {
	h.interrupt(false)
	if h.turn.take(ctx, h.settings.clock) != nil {
		return contextError(ctx, "extend", h.cmd.Name)
	}
	var result error
	if !h.client.detach(ctx, func(settle func()) {
		defer h.turn.give()
		h.extendRound(limit, func(err error) { result = err; settle() })
	}) {
		return contextError(ctx, "extend", h.cmd.Name)
	}
	return result
}

// extendRound asks all masters to prolong the lease, reports as soon as the outcome is known, and then goes on with
// the stragglers: a master that lost the key is given it back, once a quorum that never lost it has extended.
func (h *hold) extendRound(limit time.Duration, report func(error)) {
	ctx, done := h.begin()
	defer done()
	if err := h.err(); err != nil {
		report(err)
		return
	}
	s, start := h.settings, h.settings.clock.Now()
	s.ttl = min(s.ttl, limit).Truncate(time.Millisecond)
	if s.lease() <= h.remaining() {
		report(nil) // the limit is near: a shorter lease would take time away
		return
	}
	cmd := h.cmd
	cmd.Op, cmd.TTL = OpExtend, s.ttl
	h.mu.Lock()
	h.sent = start
	h.mu.Unlock()
	v := h.client.newVote(cmd, s)
	reported := false
	for reply := range h.client.masters.Send(ctx, cmd) {
		v.add(reply)
		if v.settled() && !reported {
			reported = true
			report(h.conclude(v, start, s.lease()))
			if !v.Won() {
				return
			}
		}
	}
	if !reported {
		report(h.conclude(v, start, s.lease()))
		return
	}
	h.repair(ctx, v.nodes(func(heard bool, r Reply) bool { return heard && r.Err == nil && r.Status == Gone }), start, s)
}

// conclude applies the outcome of an extension to the lock.
func (h *hold) conclude(v *vote, start clock.Reading, lease time.Duration) error {
	h.mu.Lock()
	h.decided = true
	h.mu.Unlock()
	err := h.err()
	switch {
	case err != nil: // it ended meanwhile: expired, or released, which also interrupts the round
	case v.Won():
		if h.prolong(start, lease) {
			if f := h.settings.trace.Extended; f != nil {
				f(h.cmd.Name, start.Wall.Add(lease))
			}
			return nil
		}
		err = v.fail(ErrExpired) // the old lease ended before the new one was granted
	case v.held >= v.need:
		err = v.fail(ErrLost)
		h.end(ErrLost)
	case v.held+v.gone >= v.need:
		err = v.fail(ErrExpired)
		h.end(ErrExpired)
	case v.held+v.gone > len(v.replies)-v.need:
		err = v.fail(ErrExpired)
	default:
		err = v.fail(ErrNoQuorum)
	}
	if f := h.settings.trace.ExtendFailed; f != nil {
		f(h.cmd.Name, err)
	}
	return err
}

// prolong moves the lock's end, unless it has ended or the new lease is over already.
func (h *hold) prolong(start clock.Reading, lease time.Duration) bool {
	if h.err() != nil || h.client.since(start) >= lease {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended != nil {
		return false
	}
	h.from, h.lease = start, lease
	return true
}

// repair sets the key again, for the rest of the lease, on masters that had lost it. A release waits for the turn
// that this extension has, so no repair comes after it.
func (h *hold) repair(ctx context.Context, nodes []int, start clock.Reading, s settings) {
	cmd := h.cmd
	cmd.Op, cmd.Nodes = OpRepair, nodes
	cmd.TTL = (s.ttl - h.client.since(start)).Truncate(time.Millisecond)
	if len(nodes) == 0 || cmd.TTL <= 0 || h.err() != nil {
		return
	}
	v := h.client.newVote(cmd, s)
	for reply := range h.client.masters.Send(ctx, cmd) {
		v.add(reply)
	}
}

// begin marks an extension as under way, so that interrupt can end it.
func (h *hold) begin() (ctx context.Context, done func()) {
	ctx, stop := context.WithCancel(context.Background())
	h.mu.Lock()
	h.stop, h.decided = stop, false
	h.mu.Unlock()
	return ctx, func() {
		stop()
		h.mu.Lock()
		h.stop = nil
		h.mu.Unlock()
	}
}

// interrupt ends the extension that is under way: its stragglers, or all of it.
func (h *hold) interrupt(undecided bool) {
	h.mu.Lock()
	stop := h.stop
	if !h.decided && !undecided {
		stop = nil
	}
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// watch extends the lock automatically: every third of the TTL, again and again where that fails, until the limit.
func (h *hold) watch() {
	left := h.settings.extendLimit - h.client.since(h.acquired)
	if left <= 0 || h.client.life.Err() != nil {
		return
	}
	pause := h.settings.ttl / 3
	if err := h.extend(h.client.life, left); err != nil {
		pause = h.settings.timeout()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended == nil && h.client.life.Err() == nil {
		h.watchdog = h.settings.clock.AfterFunc(pause, h.watch)
	}
}
