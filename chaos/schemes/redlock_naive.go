package schemes

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/quorum"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// redlockNaive is Redlock as it is commonly written. It asks the masters one after the other, each with a time-out as
// "Distributed locks with Redis", "The Redlock Algorithm", wants it, and counts to a majority. Its mistakes:
//   - It does not look at the clock once it has the majority (steps 3 and 4 there), so it takes for a lock what has
//     expired while it waited or stood still (Kleppmann, "Breaking Redlock with bad timings", 2nd example; antirez, "Is
//     Redlock safe?").
//   - What is left it reads from the wall clock, which may be set back (Kleppmann, "Using time to solve consensus").
//   - It takes back only what it knows to have been granted. A master whose reply was lost keeps the key for the TTL,
//     where step 5 unlocks all masters.
//   - It has no fencing token (Kleppmann, "Making the lock safe with fencing").
var redlockNaive = chaos.Scheme{
	Name:    "redlock-naive",
	About:   "Redlock as commonly written, on five masters: wall clock, no validity check, no token, lost replies not undone",
	Masters: 5,
	Open:    func(env chaos.Env) (chaos.Locker, error) { return naiveClient{env}, nil },
}

type naiveClient struct{ env chaos.Env }

func (c naiveClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	value, err := draw(c.env)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", name, err)
	}
	h := &naiveHold{env: c.env, cmd: redlock.Command{
		Name:      name,
		Value:     value,
		TTL:       c.env.TTL,
		Timeout:   c.env.TTL / 4, // generous, since a busy machine is no part of any scenario
		Retention: c.env.TTL,     // of the counter that comes with the scripts, and that is not used here
	}}
	n := c.env.Masters.Len()
	failed, last := 0, error(nil)
	for master := range n {
		ok, err := h.set(ctx, master)
		switch {
		case err != nil:
			failed, last = failed+1, err
		case ok:
			h.cmd.Nodes = append(h.cmd.Nodes, master)
		}
	}
	need := quorum.Majority(n)
	if len(h.cmd.Nodes) >= need {
		h.begin()
		return h, nil
	}
	h.count(ctx, redlock.OpRelease)
	if failed > n-need {
		return nil, fmt.Errorf("acquire %q: %w: %d of %d failed, the last with: %w", name, redlock.ErrNoQuorum, failed, n, last)
	}
	return nil, fmt.Errorf("acquire %q: %w: %d of %d masters granted", name, redlock.ErrHeld, len(h.cmd.Nodes), n)
}

type naiveHold struct {
	env   chaos.Env
	cmd   redlock.Command // Nodes are those that are known to have granted
	until time.Time       // by the wall clock
}

// set asks one master for the lock.
func (h *naiveHold) set(ctx context.Context, master int) (ok bool, err error) {
	ctx, cancel := clock.WithTimeout(ctx, h.env.Clock, h.cmd.Timeout)
	defer cancel()
	ttl := strconv.FormatInt(h.cmd.TTL.Milliseconds(), 10)
	_, ok, err = h.env.Plain.Do(ctx, master, "SET", h.cmd.Name, h.cmd.Value, "NX", "PX", ttl)
	return ok, err
}

func (h *naiveHold) begin() { h.until = h.env.Clock.Now().Wall.Add(h.cmd.TTL) }

func (h *naiveHold) Token() redlock.Token { return 0 }

func (h *naiveHold) Remaining() time.Duration { return max(h.until.Sub(h.env.Clock.Now().Wall), 0) }

func (h *naiveHold) Extend(ctx context.Context) error {
	err := h.all(ctx, redlock.OpExtend)
	if err == nil {
		h.begin()
	}
	return err
}

func (h *naiveHold) Release(ctx context.Context) error { return h.all(ctx, redlock.OpRelease) }

// all fails unless a majority does it.
func (h *naiveHold) all(ctx context.Context, op redlock.Op) error {
	n := h.env.Masters.Len()
	if done := h.count(ctx, op); done < quorum.Majority(n) {
		return fmt.Errorf("%v %q: %w: it was ours on %d of %d masters", op, h.cmd.Name, redlock.ErrExpired, done, n)
	}
	return nil
}

// count has a script carried out on the masters that are known to have granted, and returns how many did.
func (h *naiveHold) count(ctx context.Context, op redlock.Op) (done int) {
	if len(h.cmd.Nodes) == 0 {
		return 0 // no masters at all would mean all of them
	}
	cmd := h.cmd
	cmd.Op = op
	for reply := range h.env.Masters.Send(ctx, cmd) {
		if reply.Err == nil && reply.Status == redlock.Done {
			done++
		}
	}
	return done
}
