package redlock

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-multierror"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/quorum"
)

// A vote counts the replies to one command.
type vote struct {
	quorum.Tally
	client  *Client
	cmd     Command
	trace   *Trace
	start   clock.Reading
	replies []Reply // by node
	heard   []bool  // by node
	need    int

	held, gone, failed int   // how the noes divide
	reported           int   // how many reported their counter
	top                Token // the largest counter reported
	equal              bool  // they all reported the same
}

func (c *Client) newVote(cmd Command, s settings) *vote {
	n := c.masters.Len()
	v := &vote{
		Tally:  quorum.NewTally(n, s.need(n)),
		client: c, cmd: cmd, trace: s.trace, need: s.need(n),
		replies: make([]Reply, n), heard: make([]bool, n),
		equal: true,
	}
	if s.trace.NodeAnswered != nil {
		v.start = s.clock.Now()
	}
	if f := s.trace.RoundStarted; f != nil {
		f(cmd.Op, cmd.Name)
	}
	return v
}

func (v *vote) add(r Reply) {
	if r.Err == nil && r.Status > Ahead {
		r.Err = fmt.Errorf("unknown status %v", r.Status)
	}
	granted := r.Err == nil && r.Status == Done
	if !v.Tally.Add(r.Node, granted) {
		return // a master's first answer stands
	}
	v.replies[r.Node], v.heard[r.Node] = r, true
	switch {
	case r.Err != nil:
		v.failed++
	case r.Status == Held:
		v.held++
	case r.Status == Gone:
		v.gone++
	default: // Done or Ahead: the lock is ours there, and its counter counts
		v.equal = v.equal && (v.reported == 0 || v.top == r.Counter)
		v.top = max(v.top, r.Counter)
		v.reported++
		v.client.see(r.Counter)
	}
	if f := v.trace.NodeAnswered; f != nil {
		f(v.cmd.Op, v.cmd.Name, r.Node, v.client.since(v.start), v.reason(r.Node))
	}
}

// unreachable reports whether the masters that failed put a quorum out of reach by themselves.
func (v *vote) unreachable() bool { return v.failed > len(v.replies)-v.need }

// answered is how many masters have answered, yes or no.
func (v *vote) answered() int { return len(v.replies) - v.Pending() - v.failed }

// settled reports whether the outcome is known, and for a lost vote also whose work it is: another holder's, once a
// quorum has answered, or an outage's, once none can any more.
func (v *vote) settled() bool {
	return v.Won() || v.Lost() && (v.unreachable() || v.answered() >= v.need)
}

// passed returns nil if the vote was won, else the error that describes how it was not.
func (v *vote) passed(ctx context.Context) error {
	switch {
	case v.Won():
		return nil
	case ctx.Err() != nil:
		return contextError(ctx, "acquire", v.cmd.Name)
	case v.held > 0 && !v.unreachable():
		return v.fail(ErrHeld)
	case v.gone > 0 && !v.unreachable():
		return v.fail(ErrExpired)
	}
	return v.fail(ErrNoQuorum)
}

// reason says why a master did not grant; nil if it did.
func (v *vote) reason(node int) error {
	var why error
	switch r := v.replies[node]; {
	case !v.heard[node]:
		why = errUnanswered
	case r.Err != nil:
		why = r.Err
	default:
		why = [...]error{Done: nil, Held: errTaken, Gone: errGone, Ahead: errAhead}[r.Status]
	}
	if why == nil {
		return nil
	}
	return &NodeError{Node: v.client.nodeName(node), Err: why}
}

// fail describes the vote as a failure of the given kind.
func (v *vote) fail(kind error) *QuorumError {
	op := v.cmd.Op
	if op == OpConfirm {
		op = OpAcquire // of which it is a part
	}
	e := &QuorumError{Op: op.String(), Name: v.cmd.Name, Need: v.need, Won: v.Yes(), kind: kind}
	e.Errors = &multierror.Error{Errors: make([]error, 0, len(v.replies))}
	for node := range v.replies {
		if why := v.reason(node); why != nil {
			e.Errors.Errors = append(e.Errors.Errors, why)
		}
		if !v.heard[node] || v.replies[node].Err != nil {
			e.Unknown++
		}
	}
	e.Lost = len(v.replies) - e.Won - e.Unknown
	return e
}

// nodes returns the masters of which want is true.
func (v *vote) nodes(want func(heard bool, r Reply) bool) []int {
	var nodes []int
	for i, r := range v.replies {
		if want(v.heard[i], r) {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// nodeName returns a master's address where the masters know it.
func (c *Client) nodeName(node int) string {
	if named, ok := c.masters.(interface{ NodeName(int) string }); ok {
		return named.NodeName(node)
	}
	return fmt.Sprintf("master %d", node+1)
}
