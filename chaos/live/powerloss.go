//go:build unix

package live

import (
	"context"
	"fmt"
	"time"
)

// PowerLoss of a node without a file is its death, and with appendfsync always as well: what it has answered is on the
// disk. With everysec the file is cut back to what it was a second ago.
func (n *serverNode) PowerLoss(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("cut the power of", false); err != nil {
		return "", err
	}
	before, err := n.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	at := time.Now()
	if err := n.kill(ctx); err != nil {
		return "", err
	}
	var kept string
	switch n.setup.persistence {
	case None:
		kept = "it had nothing on disk"
	case AOFAlways:
		kept = "all was on disk (appendfsync always)"
	case AOFEverysec:
		from, to, err := n.aof.cut(at)
		if err != nil {
			return "", fmt.Errorf("cut the power of node %s: %w", n.name, err)
		}
		if from == to {
			return "", fmt.Errorf("cut the power of node %s: %w: it had written nothing for %v", n.name, ErrNoEffect, atRisk)
		}
		kept = fmt.Sprintf("emulated: the append-only file is cut back by %v, from %d to %d bytes", atRisk, from, to)
	}
	if err := n.restart(ctx); err != nil {
		return "", err
	}
	after, err := n.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: it had %d keys and has %d", kept, before, after), nil
}
