package sim

import (
	"context"
	"iter"
	"slices"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/quorum"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// points stand between an actor's scheme and its masters, and stop the client at the point that was asked for.
type points struct {
	*masters
	actor *actor
}

// reach stops the client if this is the point.
func (a *actor) reach(at chaos.Point) {
	if a.at == at {
		a.at = ""
		a.call.stopped = true
		a.stopHere()
	}
}

// stopHere stops the client's host under the running process, which goes on when the host does.
func (a *actor) stopHere() {
	a.world.kernel.stop(&a.host)
	a.scene.notify()
	a.world.kernel.stall()
}

func (p points) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	replies := p.masters.Send(ctx, cmd)
	return func(yield func(redlock.Reply) bool) {
		switch {
		case cmd.Op == redlock.OpAcquire && p.actor.at == chaos.FirstAnswer:
			all := slices.Collect(replies)
			if granted(all) >= quorum.Majority(p.n) {
				p.actor.reach(chaos.FirstAnswer) // else there is nothing to sit on
			}
			replies = slices.Values(all)
		case cmd.Op == redlock.OpConfirm:
			p.actor.reach(chaos.BeforeConfirm)
		case cmd.Op == redlock.OpRelease:
			p.actor.reach(chaos.BeforeDelete)
		}
		replies(yield)
	}
}

func granted(replies []redlock.Reply) (n int) {
	for _, r := range replies {
		if r.Err == nil && r.Status == redlock.Done {
			n++
		}
	}
	return n
}

func (p points) Do(ctx context.Context, master int, command ...string) (string, bool, error) {
	switch command[0] {
	case "PEXPIRE":
		p.actor.reach(chaos.BeforeExpire)
	case "DEL":
		p.actor.reach(chaos.BeforeDelete)
	}
	text, ok, err := p.masters.Do(ctx, master, command...)
	if command[0] == "SET" || command[0] == "SETNX" {
		p.actor.asked(master, p.n, err == nil && (text == "OK" || text == "1"))
	}
	return text, ok, err
}

// asked counts the grants to a scheme that asks one master after the other: when the last has answered, all have.
func (a *actor) asked(master, masters int, granted bool) {
	if master == 0 {
		a.grants = 0
	}
	if granted {
		a.grants++
	}
	if master == masters-1 && a.grants >= quorum.Majority(masters) {
		a.reach(chaos.FirstAnswer)
	}
}
