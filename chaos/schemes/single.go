package schemes

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// single is one master used by the book ("Distributed locks with Redis", "Correct implementation with a single
// instance"): key and expiry in one command, an own value, deletion only of one's own value; and beside it, in the same
// script, an INCR for a fencing token. It waits for its answer as long as a client library does by default.
var single = chaos.Scheme{
	Name:    "single",
	About:   "one master by the book: SET NX PX with an own value, scripted release, token by INCR",
	Masters: 1,
	Open: func(env chaos.Env) (chaos.Locker, error) {
		return &singleClient{env}, nil
	},
}

// patience is go-redis' default time-out for a reply.
const patience = 5 * time.Second

type singleClient struct{ env chaos.Env }

func (c *singleClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	var value [20]byte
	if _, err := io.ReadFull(c.env.Random, value[:]); err != nil {
		return nil, err
	}
	h := &singleHold{client: c, cmd: redlock.Command{
		Name:    name,
		Value:   hex.EncodeToString(value[:]),
		TTL:     c.env.TTL,
		Timeout: patience,
		Nodes:   []int{0},
	}}
	// With a proposal of 0 the acquire script counts by one: INCR.
	reply, err := h.do(ctx, redlock.OpAcquire)
	if err != nil {
		return nil, err
	}
	h.token, h.since = reply.Counter, c.env.Clock.Now()
	return h, nil
}

type singleHold struct {
	client *singleClient
	cmd    redlock.Command
	token  redlock.Token
	since  clock.Reading // when the answer was there, as most clients count
}

func (h *singleHold) Token() redlock.Token { return h.token }

func (h *singleHold) Remaining() time.Duration {
	return max(h.cmd.TTL-h.client.env.Clock.Now().Since(h.since), 0)
}

func (h *singleHold) Extend(ctx context.Context) error {
	_, err := h.do(ctx, redlock.OpExtend)
	if err == nil {
		h.since = h.client.env.Clock.Now()
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
	for reply := range h.client.env.Masters.Send(ctx, cmd) {
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
	return redlock.Reply{}, ctx.Err()
}
