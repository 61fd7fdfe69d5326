package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// errPortTaken says that somebody else listens where a node was to listen.
var errPortTaken = errors.New("the port is taken")

const (
	// startTimeout bounds a start or a restart whose context has a later end or none.
	startTimeout = 15 * time.Second

	// A node keeps its port while it is down, when nothing holds it. So ports are drawn from below the range that
	// Linux gives to outgoing connections and to listeners that take any port (32768 and up, ip(7)): a client's
	// connection cannot take the place of a node that is down.
	firstPort, lastPort = 15000, 32000
)

// onFreePort calls start with free ports until one is not taken by the time that start uses it.
func onFreePort(ctx context.Context, start func(port int) error) error {
	const tries = 50
	var err error
	for range tries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		if err = probePort(loopback(port)); err != nil {
			continue
		}
		if err = start(port); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return fmt.Errorf("no free port found: %w", err)
}

// probePort fails, wrapping errPortTaken, if somebody listens there. That is sooner known than by a server's failure.
func probePort(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return l.Close()
}

// onSamePort calls start until it finds its port free or ctx ends: what has taken a node's port while it was down may
// leave again.
func onSamePort(ctx context.Context, addr string, start func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var taken error
	for {
		err := probePort(addr)
		if err == nil {
			err = start()
		}
		switch {
		case errors.Is(err, errPortTaken):
			taken = err
		case err != nil && ctx.Err() != nil && taken != nil:
			// The attempt that ctx cut short says less than the one before.
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), taken)
		case <-tick.C:
		}
	}
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// acceptAll hands every connection to handle until l is closed. A failure that passes, such as too many open files, does
// not end it.
func acceptAll(l net.Listener, handle func(net.Conn)) {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			handle(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			<-time.After(10 * time.Millisecond)
		}
	}
}
