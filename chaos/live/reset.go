//go:build unix

package live

import (
	"context"
	"errors"
)

// reset undoes what a fault may have done to a server that is still there. One that is down is as soon started anew.
func (n *serverNode) reset(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("reset", n.paused); err != nil {
		return err
	}
	if n.paused {
		if err := n.resume(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(n.closeReplicas(), resetClockFile(n.clockFile())); err != nil {
		return err
	}
	_, err1 := n.Ask(ctx, "REPLICAOF", "NO", "ONE")
	err2 := n.bound(ctx, "noeviction", 0)
	// What clients that have ended have left in their connections goes with these.
	_, err3 := n.Ask(ctx, "CLIENT", "KILL", "TYPE", "normal")
	_, err4 := n.Ask(ctx, "CLIENT", "KILL", "TYPE", "pubsub")
	if err := errors.Join(err1, err2, err3, err4, n.empty(ctx), n.onTime(ctx)); err != nil {
		return err
	}
	if n.aof != nil {
		return n.aof.sync()
	}
	return nil
}
