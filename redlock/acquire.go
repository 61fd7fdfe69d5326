package redlock

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// howto says how to acquire.
type howto struct {
	once  bool // one attempt only
	bound bool // the lock's context ends with the caller's, not only with the lease
}

// acquire tries until it is granted or ctx ends.
func (c *Client) acquire(ctx context.Context, name string, opts []Option, how howto) (*Lock, error) {
	s, err := c.settingsFor(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	parent := ctx
	if !how.bound {
		parent = context.WithoutCancel(ctx)
	}
	if s.reentrant {
		if l, err := c.reenter(parent, name); l != nil || err != nil {
			return l, err
		}
	}
	var last error
	for attempt := 0; ; attempt++ {
		l, err := c.attempt(ctx, parent, name, s)
		if err == nil || how.once {
			return l, err
		}
		if !errors.As(err, new(*QuorumError)) {
			return nil, wrapLast(err, last)
		}
		last = err
		wait, err := backoff(s, attempt)
		if err != nil {
			return nil, err
		}
		if s.clock.Sleep(ctx, wait) != nil {
			return nil, wrapLast(contextError(ctx, "acquire", name), last)
		}
	}
}

// attempt is one round of the algorithm ("Distributed locks with Redis", "The Redlock algorithm"): with a value of its
// own, so that a late release of this attempt cannot delete the key of the next.
func (c *Client) attempt(ctx, parent context.Context, name string, s settings) (*Lock, error) {
	if ctx.Err() != nil {
		return nil, contextError(ctx, "acquire", name)
	}
	if c.life.Err() != nil {
		return nil, errClosed
	}
	value, err := newValue(s.random)
	if err != nil {
		return nil, err
	}
	start := s.clock.Now()
	cmd := Command{
		Op: OpAcquire, Name: name, Value: value, Token: c.proposal(start),
		TTL: s.ttl, Retention: s.retention, Timeout: s.timeout(),
	}
	grants := c.ask(ctx, cmd, s)
	token, err := c.settle(ctx, cmd, start, grants, s)
	if err == nil {
		cmd.Token = token
		l := newLock(c, parent, cmd, start, s)
		switch {
		case c.life.Err() != nil:
			err = errClosed
		case l.hold.arm():
			return l, nil
		default:
			err = grants.fail(ErrExpired)
		}
	}
	c.undo(ctx, cmd, start, grants, s)
	if f := s.trace.Refused; f != nil {
		f(name, err)
	}
	return nil, err
}

// ask puts one question to all masters and counts until the outcome is known; it never waits for the slowest. And once a
// quorum has answered, a rival among it, it does not wait long for the silent ones: two clients that share the masters two to two, while the fifth
// is silent, would each sit on their grants for a node timeout and meet the other's at every attempt. ("Distributed locks
// with Redis", "Retry on failure": who fails to get the majority should release as soon as possible.)
func (c *Client) ask(ctx context.Context, cmd Command, s settings) *vote {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	v := c.newVote(cmd, s)
	start, patient := s.clock.Now(), true
	for reply := range c.masters.Send(ctx, cmd) {
		v.add(reply)
		if v.settled() {
			break
		}
		if patient && v.held > 0 && v.answered() >= v.need {
			patient = false
			defer s.clock.AfterFunc(max(minNodeTimeout, 3*c.since(start)), giveUp)()
		}
	}
	return v
}

// settle makes a token of the grants, or says why they are not enough.
//
// That any two grants carry different tokens, and a later one a larger, whatever the clocks do: two quorums share a
// master. Where it counted A's grant before B's, it counted B's as larger. A's token is either what that master counted
// for A, or was confirmed there while the lock still held A's value, that is before B; so B's count there, and with it
// B's token, is larger than A's.
func (c *Client) settle(ctx context.Context, cmd Command, start clock.Reading, grants *vote, s settings) (Token, error) {
	if err := grants.passed(ctx); err != nil {
		return 0, err
	}
	if c.since(start) >= s.lease() {
		return 0, grants.fail(ErrExpired)
	}
	token := grants.top
	if grants.equal && token > 0 {
		return token, nil
	}
	token = max(token, 1) // every counter lost between a grant and its repetition
	for {
		cmd.Op, cmd.Token = OpConfirm, token
		confirmed := c.ask(ctx, cmd, s)
		switch {
		case confirmed.Won():
			return token, nil
		case c.since(start) >= s.lease():
			return 0, confirmed.fail(ErrExpired)
		case confirmed.top > token && ctx.Err() == nil:
			token = confirmed.top
		default:
			return 0, confirmed.passed(ctx)
		}
	}
}

// newValue returns 20 random bytes, in hexadecimal so that they can be read with redis-cli.
func newValue(random io.Reader) (string, error) {
	var b [20]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("redlock: no random value: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// backoff is full jitter: a random time up to a bound that doubles with each attempt.
func backoff(s settings, attempt int) (time.Duration, error) {
	var b [8]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return 0, fmt.Errorf("redlock: no random back-off: %w", err)
	}
	bound := s.retryMax
	if attempt < 32 && s.retryMin < s.retryMax>>attempt {
		bound = s.retryMin << attempt
	}
	return time.Duration(binary.LittleEndian.Uint64(b[:]) % uint64(bound+1)), nil
}
