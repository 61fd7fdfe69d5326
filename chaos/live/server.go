//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// serverNode is a redis-server that the harness runs, wherever it runs.
type serverNode struct {
	site
	port  int
	dir   string // its own folder: append-only file, clock
	setup *serverSetup
	aof   *aof // with AOFEverysec only

	mu       sync.Mutex // held while the state changes
	server   running    // nil when down
	paused   bool
	closed   bool
	replicas []*Replica // that were started, and end with it
}

// serverSetup is what the nodes of one prepare share.
type serverSetup struct {
	runner      runner
	persistence Persistence
	dir         string // absolute
	clockLib    string // "" when there is none
	clockErr    error  // why there is none
}

// prepareServers returns what starts redis-servers by that runner.
func prepareServers(ctx context.Context, c Config, r runner) (startNode, error) {
	if c.Dir == "" {
		return nil, errors.New("no Dir to work in")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	s := &serverSetup{runner: r, persistence: c.Persistence, dir: dir}
	s.clockLib, s.clockErr = buildClock(ctx, dir)
	return s.start, nil
}

func (s *serverSetup) start(ctx context.Context, name string) (Node, error) {
	n, err := s.startServer(ctx, name)
	if err != nil {
		return nil, err // and no Node that is not nil
	}
	return n, nil
}

func (s *serverSetup) startServer(ctx context.Context, name string) (*serverNode, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(s.dir, name+"-")
	if err != nil {
		return nil, err
	}
	n := &serverNode{site: site{name: name}, dir: dir, setup: s}
	if s.persistence == AOFEverysec {
		n.aof = &aof{dir: dir}
	}
	err = newClockFile(n.clockFile())
	if err == nil {
		err = onFreePort(ctx, func(port int) error {
			n.port, n.addr = port, loopback(port)
			return n.launch(ctx)
		})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return n, nil
}

func (n *serverNode) clockFile() string { return filepath.Join(n.dir, "clock") }

// need fails unless the node runs or, if so asked, is paused. The caller holds mu.
func (n *serverNode) need(op string, paused bool) error {
	switch {
	case n.closed:
		return fmt.Errorf("%s node %s: it is closed", op, n.name)
	case n.server == nil:
		return fmt.Errorf("%s node %s: it is down", op, n.name)
	case hasEnded(n.server):
		return explain(fmt.Errorf("%s node %s: it has ended by itself: %v", op, n.name, n.server.exit()), n.server)
	case n.paused && !paused:
		return fmt.Errorf("%s node %s: it is paused", op, n.name)
	case !n.paused && paused:
		return fmt.Errorf("%s node %s: it is not paused", op, n.name)
	}
	return nil
}

func (n *serverNode) Kill(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("kill", n.paused); err != nil {
		return err
	}
	return n.kill(ctx)
}

// kill ends the server. The caller holds mu.
func (n *serverNode) kill(ctx context.Context) error {
	if n.aof != nil {
		n.aof.unwatch()
	}
	if err := n.server.kill(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("kill node %s: %w", n.name, err)
	}
	n.server, n.paused = nil, false
	return nil
}

func (n *serverNode) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("restart node %s: it is closed", n.name)
	case n.server != nil && !hasEnded(n.server):
		return fmt.Errorf("restart node %s: it is not down", n.name)
	case n.server != nil:
		// It has ended by itself; a container of that kind is still to be removed.
		if err := n.kill(ctx); err != nil {
			return err
		}
	}
	return n.restart(ctx)
}

// restart starts the server again. The caller holds mu.
func (n *serverNode) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := onSamePort(ctx, n.addr, func() error { return n.launch(ctx) }); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return nil
}

func (n *serverNode) Pause(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("pause", false); err != nil {
		return "", err
	}
	n.paused = true // also if it fails half-way: Resume is then allowed
	if err := n.server.stop(ctx); err != nil {
		return "", fmt.Errorf("pause node %s: %w", n.name, err)
	}
	return n.proveSilence(ctx)
}

func (n *serverNode) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("resume", true); err != nil {
		return err
	}
	return n.resume(ctx)
}

// resume lets a paused server go on. The caller holds mu.
func (n *serverNode) resume(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := n.server.resume(ctx)
	if err == nil {
		n.paused = false
		err = awaitPing(ctx, n.addr, n.server.done())
	}
	if err != nil {
		return fmt.Errorf("resume node %s: %w", n.name, err)
	}
	return nil
}

func (n *serverNode) StepClock(ctx context.Context, d time.Duration) (Proof, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.needClock("step the clock of"); err != nil {
		return Proof{}, err
	}
	return n.step(ctx, d, func(d time.Duration) error { return stepClockFile(n.clockFile(), d) })
}

func (n *serverNode) Drift(ctx context.Context, rate float64) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.needClock("slow down the clock of"); err != nil {
		return "", err
	}
	return n.drift(ctx, rate, func(rate float64) (float64, error) { return driftClockFile(n.clockFile(), rate) })
}

// needClock fails unless the node runs and its clock is in our hands.
func (n *serverNode) needClock(op string) error {
	if err := n.need(op, false); err != nil {
		return err
	}
	if n.setup.clockErr != nil {
		return fmt.Errorf("%s node %s: %w", op, n.name, n.setup.clockErr)
	}
	return nil
}

func (n *serverNode) FlushAll(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("flush", false); err != nil {
		return "", err
	}
	return n.flush(ctx)
}

func (n *serverNode) Evict(ctx context.Context, policy string, keys ...string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("evict from", false); err != nil {
		return "", err
	}
	return n.evict(ctx, policy, keys)
}

func (n *serverNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	err := n.closeReplicas()
	if n.server != nil {
		err = errors.Join(err, n.kill(context.Background()))
	}
	if err = errors.Join(err, os.RemoveAll(n.dir)); err != nil {
		return fmt.Errorf("close node %s: %w", n.name, err)
	}
	return nil
}
