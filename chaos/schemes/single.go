package schemes

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// single is one master used by the book ("Distributed locks with Redis", "Correct implementation with a single
// instance"): key and expiry in one command, an own value, deletion only of one's own value; and beside it, in the same
// script, an INCR for a fencing token. It waits for its answer as long as a client library does by default.
var single = chaos.Scheme{
	Name:    "single",
	About:   "one master by the book: SET NX PX with an own value, scripted release, token by INCR",
	Masters: 1,
	Open:    openSingle,
}

func openSingle(env chaos.Env) (chaos.Locker, error) { return singleClient{env}, nil }

// patience is go-redis' default time-out for a reply.
const patience = 5 * time.Second

type singleClient struct{ env chaos.Env }

func (c singleClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	value, err := draw(c.env)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", name, err)
	}
	h := &singleHold{
		lease:   lease{clock: c.env.Clock},
		masters: c.env.Masters,
		cmd:     redlock.Command{Name: name, Value: value, TTL: c.env.TTL, Timeout: patience, Nodes: []int{0}},
	}
	// With a proposal of 0 the acquire script counts by one: INCR.
	reply, err := h.do(ctx, redlock.OpAcquire)
	if err != nil {
		return nil, err
	}
	h.token = reply.Counter
	h.begin(h.cmd.TTL)
	return h, nil
}

type singleHold struct {
	lease
	masters redlock.Masters
	cmd     redlock.Command
	token   redlock.Token
}

func (h *singleHold) Token() redlock.Token { return h.token }

func (h *singleHold) Extend(ctx context.Context) error {
	_, err := h.do(ctx, redlock.OpExtend)
	if err == nil {
		h.begin(h.cmd.TTL)
	}
	return err
}

func (h *singleHold) Release(ctx context.Context) error {
	_, err := h.do(ctx, redlock.OpRelease)
	return err
}

// do asks the one master.
func (h *singleHold) do(ctx context.Context, op redlock.Op) (redlock.Reply, error) {
	cmd := h.cmd
	cmd.Op = op
	for reply := range h.masters.Send(ctx, cmd) {
		switch {
		case reply.Err != nil:
			return reply, fmt.Errorf("%v %q: %w", op, cmd.Name, reply.Err)
		case reply.Status == redlock.Held:
			return reply, fmt.Errorf("%v %q: %w", op, cmd.Name, redlock.ErrHeld)
		case reply.Status != redlock.Done:
			return reply, fmt.Errorf("%v %q: %w", op, cmd.Name, redlock.ErrExpired)
		}
		return reply, nil
	}
	return redlock.Reply{}, fmt.Errorf("%v %q: no answer: %w", op, cmd.Name, cmp.Or(ctx.Err(), os.ErrDeadlineExceeded))
}
