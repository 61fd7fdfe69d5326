package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

func embeddedAvailable() (string, error) {
	return "embedded nodes (miniredis, in this process)", nil
}

// embeddedNode is a miniredis behind a listener of ours, so that the clock's hook is in place before the first client
// is: Miniredis.Start would let one in first.
type embeddedNode struct {
	site
	persistence Persistence
	clock       embeddedClock

	mu       sync.Mutex // held while the state changes
	redis    *miniredis.Miniredis
	listener net.Listener  // nil when down
	served   chan struct{} // closed when the listener hands over no more connections
	closed   bool
}

func prepareEmbedded(_ context.Context, c Config) (startNode, error) {
	return func(ctx context.Context, name string) (Node, error) {
		ctx, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		n := &embeddedNode{site: site{name: name}, persistence: c.Persistence}
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
		acceptAll(l, srv.ServeConn)
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
	if n.persistence == AOFAlways {
		// No file of Redis keeps the scripts that a server has seen.
		peer := server.NewPeer(bufio.NewWriter(io.Discard))
		n.redis.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	}
	n.redis.Close()
	if n.persistence != AOFAlways {
		n.redis = nil
	}
}

// need fails unless the node runs. The caller holds mu.
func (n *embeddedNode) need(op string) error {
	switch {
	case n.closed:
		return fmt.Errorf("%s node %s: it is closed", op, n.name)
	case n.listener == nil:
		return fmt.Errorf("%s node %s: it is down", op, n.name)
	}
	return nil
}

func (n *embeddedNode) Kill(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("kill"); err != nil {
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
	if err := onSamePort(ctx, func() error { return n.launch(ctx) }); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return nil
}

func (n *embeddedNode) Pause(context.Context) error {
	return unsupported("pause node %s: an embedded node cannot be stopped apart from the harness it runs in", n.name)
}

func (n *embeddedNode) Resume(context.Context) error {
	return unsupported("resume node %s: an embedded node cannot be paused", n.name)
}

func (n *embeddedNode) StepClock(ctx context.Context, d time.Duration) (Proof, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("step the clock of"); err != nil {
		return Proof{}, err
	}
	return n.step(ctx, d, func(d time.Duration) error {
		n.clock.step(n.redis, d)
		return nil
	})
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
