//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Replica is a redis-server that copies a master's data over a link of its own. It is a Node of its own, whose Name is
// that of its master and "-replica", and ends with its master's Close, if not before.
type Replica struct {
	*serverNode
	master *serverNode
	link   *Proxy
}

func (n *serverNode) StartReplica(ctx context.Context) (*Replica, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("start a replica of", false); err != nil {
		return nil, err
	}
	r := &Replica{master: n}
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a replica of node %s: %w", n.name, err), r.Close())
	}
	n.replicas = append(n.replicas, r)
	return r, nil
}

func (r *Replica) start(ctx context.Context) (err error) {
	if r.link, err = NewProxy(r.master.addr); err != nil {
		return err
	}
	if r.serverNode, err = r.master.setup.startServer(ctx, r.master.name+"-replica"); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(r.link.Addr())
	if err != nil {
		return err
	}
	if _, err := r.Ask(ctx, "REPLICAOF", host, port); err != nil {
		return err
	}
	return r.catchUp(ctx)
}

// closeReplicas ends them all. The caller holds mu.
func (n *serverNode) closeReplicas() error {
	var err error
	for _, r := range n.replicas {
		err = errors.Join(err, r.Close())
	}
	n.replicas = nil
	return err
}

// catchUp returns when the replica has all that the master has.
func (r *Replica) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		link, err := r.info(ctx, "replication", "master_link_status")
		if err != nil {
			return err
		}
		behind, err := r.behind(ctx)
		if link == "up" && behind == 0 && err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the replica of node %s has not caught up: %w: link %s, %d bytes behind, %v",
				r.master.name, context.Cause(ctx), link, behind, err)
		}
	}
}

// behind is how many bytes of the master's stream the replica has not had.
func (r *Replica) behind(ctx context.Context) (int, error) {
	sent, err1 := r.master.infoNumber(ctx, "replication", "master_repl_offset")
	had, err2 := r.infoNumber(ctx, "replication", "slave_repl_offset")
	return sent - had, errors.Join(err1, err2)
}

// Cut lets the replica catch up, and then loses all that the master sends it, for good. Neither is told. The proof is a
// message to subscribers, of whom there are none: masters send those to replicas too.
func (r *Replica) Cut(ctx context.Context) (string, error) {
	if err := r.catchUp(ctx); err != nil {
		return "", err
	}
	r.link.Cut()
	swallowed := r.link.Stats().Replies.Swallowed
	if _, err := r.master.Ask(ctx, "PUBLISH", "quorumlock-cut", "."); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := r.link.Await(ctx, func(s Stats) bool { return s.Replies.Swallowed > swallowed }); err != nil {
		return "", fmt.Errorf("cut the replica of node %s off: %w: %w", r.master.name, ErrNoEffect, err)
	}
	behind, err := r.behind(ctx)
	if err != nil {
		return "", err
	}
	if behind <= 0 {
		return "", fmt.Errorf("cut the replica of node %s off: %w: it is %d bytes behind", r.master.name, ErrNoEffect, behind)
	}
	return fmt.Sprintf("the replica is %d bytes behind after a PUBLISH", behind), nil
}

// Promote makes the replica a master.
func (r *Replica) Promote(ctx context.Context) (string, error) {
	if _, err := r.Ask(ctx, "REPLICAOF", "NO", "ONE"); err != nil {
		return "", fmt.Errorf("promote the replica of node %s: %w", r.master.name, err)
	}
	role, err := r.info(ctx, "replication", "role")
	if err != nil {
		return "", fmt.Errorf("promote the replica of node %s: %w", r.master.name, err)
	}
	if role != "master" {
		return "", fmt.Errorf("promote the replica of node %s: %w: its role is %q", r.master.name, ErrNoEffect, role)
	}
	keys, err := r.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("INFO replication: role:master; it has %d keys", keys), nil
}

// Close ends the replica and its link.
func (r *Replica) Close() error {
	var err error
	if r.link != nil {
		err = r.link.Close()
	}
	if r.serverNode != nil {
		err = errors.Join(err, r.serverNode.Close())
	}
	return err
}
