package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

func embeddedAvailable(context.Context) (string, error) {
	return "embedded nodes (miniredis, in this process)", nil
}

// embeddedNode is a miniredis behind a listener of ours, so that the clock's hook is in place before the first client
// is: Miniredis.Start would let one in first.
type embeddedNode struct {
	site
	persistence Persistence
	clock       embeddedClock
	gate        *gate

	mu       sync.Mutex // held while the state changes
	redis    *miniredis.Miniredis
	listener net.Listener  // nil when down
	served   chan struct{} // closed when the listener hands over no more connections
	paused   bool
	closed   bool
}

func prepareEmbedded(_ context.Context, c Config) (startNode, error) {
	return func(ctx context.Context, name string) (Node, error) {
		ctx, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		n := &embeddedNode{site: site{name: name}, persistence: c.Persistence, gate: newGate()}
		err := onFreePort(ctx, func(port int) error {
			n.addr = loopback(port)
			return n.launch(ctx)
		})
		if err != nil {
			return nil, err
		}
		return n, nil
	}, nil
}

// launch listens and serves, and returns when the node answers PING. The error wraps errPortTaken if somebody else has
// the port.
func (n *embeddedNode) launch(ctx context.Context) error {
	l, err := net.Listen("tcp", n.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: %w", errPortTaken, err)
	}
	if err != nil {
		return err
	}
	if n.redis == nil {
		n.redis = miniredis.NewMiniRedis()
		n.clock.start(n.redis)
	} else {
		// Close has ended the context that blocking commands wait on.
		n.redis.Ctx, n.redis.CtxCancel = context.WithCancel(context.Background())
	}
	// Dial starts a miniredis that listens nowhere.
	unused, err := n.redis.Dial()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	unused.Close()
	srv := n.redis.Server()
	srv.SetPreHook(n.clock.hook(n.redis))
	served := make(chan struct{})
	go func() {
		defer close(served)
		acceptAll(l, func(conn net.Conn) { srv.ServeConn(n.gate.guard(conn)) })
	}()
	n.listener, n.served = l, served
	if err := awaitPing(ctx, n.addr, nil); err != nil {
		n.halt()
		return err
	}
	return nil
}

// halt closes the port and every connection, and forgets what a node with its Persistence forgets.
func (n *embeddedNode) halt() {
	n.listener.Close()
	<-n.served
	n.listener = nil
	if n.persistence != None {
		// No file of Redis keeps the scripts that a server has seen.
		peer := server.NewPeer(bufio.NewWriter(io.Discard))
		n.redis.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	}
	n.redis.Close()
	if n.persistence == None {
		n.redis = nil
	}
	if n.paused {
		n.gate.unlock()
		n.paused = false
	}
}

// need fails unless the node runs or, if so asked, is paused. The caller holds mu.
func (n *embeddedNode) need(op string, paused bool) error {
	switch {
	case n.closed:
		return fmt.Errorf("%s node %s: it is closed", op, n.name)
	case n.listener == nil:
		return fmt.Errorf("%s node %s: it is down", op, n.name)
	case n.paused && !paused:
		return fmt.Errorf("%s node %s: it is paused", op, n.name)
	case !n.paused && paused:
		return fmt.Errorf("%s node %s: it is not paused", op, n.name)
	}
	return nil
}

func (n *embeddedNode) Kill(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("kill", n.paused); err != nil {
		return err
	}
	n.halt()
	return nil
}

func (n *embeddedNode) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("restart node %s: it is closed", n.name)
	case n.listener != nil:
		return fmt.Errorf("restart node %s: it is not down", n.name)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := onSamePort(ctx, n.addr, func() error { return n.launch(ctx) }); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return nil
}

// PowerLoss is that of a node without a file or with appendfsync always: between those two there is nothing here.
func (n *embeddedNode) PowerLoss(ctx context.Context) (string, error) {
	if n.persistence == AOFEverysec {
		return "", unsupported("cut the power of node %s: an embedded node has no file to cut back", n.name)
	}
	before, err := n.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	if err := n.Kill(ctx); err != nil {
		return "", err
	}
	if err := n.Restart(ctx); err != nil {
		return "", err
	}
	after, err := n.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("emulated: it had %d keys and has %d", before, after), nil
}

func (n *embeddedNode) Pause(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("pause", false); err != nil {
		return "", err
	}
	n.gate.shut()
	n.paused = true
	proof, err := n.proveSilence(ctx)
	return "emulated: its connections are held; " + proof, err
}

func (n *embeddedNode) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("resume", true); err != nil {
		return err
	}
	n.gate.unlock()
	n.paused = false
	if err := awaitPing(ctx, n.addr, nil); err != nil {
		return fmt.Errorf("resume node %s: %w", n.name, err)
	}
	return nil
}

func (n *embeddedNode) StepClock(ctx context.Context, d time.Duration) (Proof, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("step the clock of", false); err != nil {
		return Proof{}, err
	}
	return n.step(ctx, d, func(d time.Duration) error {
		n.clock.step(n.redis, d)
		return nil
	})
}

func (n *embeddedNode) Drift(ctx context.Context, rate float64) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("slow down the clock of", false); err != nil {
		return "", err
	}
	return n.drift(ctx, rate, func(rate float64) (float64, error) { return n.clock.drift(rate), nil })
}

func (n *embeddedNode) FlushAll(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("flush", false); err != nil {
		return "", err
	}
	return n.flush(ctx)
}

// Evict deletes the keys: miniredis knows no bound of its memory.
func (n *embeddedNode) Evict(ctx context.Context, policy string, keys ...string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("evict from", false); err != nil {
		return "", err
	}
	for _, key := range keys {
		lease, err := n.shortestLease(ctx, []string{key})
		if err != nil {
			return "", fmt.Errorf("evict from node %s: %w", n.name, err)
		}
		if strings.HasPrefix(policy, "volatile-") && lease == noLease {
			return "", fmt.Errorf("evict from node %s: %w: %s has no TTL, and %s leaves it", n.name, ErrNoEffect, key, policy)
		}
		n.redis.Del(key)
	}
	return "emulated: deleted in place of an eviction by " + policy + ": " + strings.Join(keys, " and "), nil
}

func (n *embeddedNode) StartReplica(context.Context) (*Replica, error) {
	return nil, unsupported("start a replica of node %s: an embedded node has no replication", n.name)
}

// reset starts an empty one in its place.
func (n *embeddedNode) reset(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("reset", n.paused); err != nil {
		return err
	}
	n.halt()
	n.redis = nil
	n.clock.reset()
	if err := n.launch(ctx); err != nil {
		return err
	}
	return errors.Join(n.empty(ctx), n.onTime(ctx))
}

func (n *embeddedNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	if n.listener != nil {
		n.halt()
	}
	n.redis = nil
	return nil
}
