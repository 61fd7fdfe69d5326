package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors that the harness tells apart with errors.Is. A fault that fails with either of them did not happen, so what
// was to be shown with it was not reached.
var (
	// ErrUnsupported says that this kind of node, or this machine, cannot do what was asked.
	ErrUnsupported = errors.New("not supported here")
	// ErrNoEffect says that a fault was injected and that its proof failed.
	ErrNoEffect = errors.New("the fault had no effect")
)

// Node is one Redis master that the harness owns. Its methods may be called from any goroutine; those that change the
// node run one after another. They fail on a node that is not in the state they start from (Kill and Pause want it
// running, Restart wants it down, Resume wants it paused), because a fault that changes nothing is a mistake of the
// script that asked for it.
type Node interface {
	// Name is a letter: the first node of StartNodes is "A".
	Name() string
	// Addr is the node's host:port. It stays the same across Restart.
	Addr() string
	// Kill ends the node as kill -9 does and returns when it is gone, which ctx does not cut short. It works on a paused
	// node too.
	Kill(ctx context.Context) error
	// Restart starts a killed node again, on the same port, and returns when it answers PING. The node has the data that
	// its Persistence kept, and the wall clock that it had: TTLs have run on while it was down.
	Restart(ctx context.Context) error
	// Pause stops the node as SIGSTOP does: connections stay open and nothing is answered. Embedded nodes cannot
	// (ErrUnsupported).
	Pause(ctx context.Context) error
	// Resume lets a paused node go on, as SIGCONT does, and returns when it answers PING. Requests that came in
	// meanwhile are executed.
	Resume(ctx context.Context) error
	// StepClock moves the node's wall clock by d, forwards or backwards, and proves it by Redis TIME. Every key with a
	// TTL moves with it. The error wraps ErrNoEffect if TIME did not move by d, and ErrUnsupported if this machine
	// cannot step the node's clock.
	StepClock(ctx context.Context, d time.Duration) (Proof, error)
	// Time is the node's wall clock, by Redis TIME, in whole microseconds.
	Time(ctx context.Context) (time.Time, error)
	// Close stops the node and deletes its data. Closing it again does nothing.
	Close() error
}

// site is where a node is: what all kinds have alike.
type site struct{ name, addr string }

func (s *site) Name() string { return s.name }
func (s *site) Addr() string { return s.addr }

func (s *site) Time(ctx context.Context) (time.Time, error) {
	t, err := readTime(ctx, s.addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of node %s: %w", s.name, err)
	}
	return t.wall, nil
}

// step proves a step of the node's clock that move makes.
func (s *site) step(ctx context.Context, d time.Duration, move func(time.Duration) error) (Proof, error) {
	p, err := proveStep(ctx, s.addr, d, move)
	if err != nil {
		return p, fmt.Errorf("step the clock of node %s: %w", s.name, err)
	}
	return p, nil
}

// Proof is the evidence that a node's wall clock was stepped.
type Proof struct {
	Before, After time.Time     // Redis TIME just before the step and just after it
	Moved         time.Duration // how far the clock moved, without the time that passed between the two
}

func (p Proof) String() string {
	const layout = "15:04:05.000"
	return fmt.Sprintf("TIME %s -> %s (moved %+.3f s)",
		p.Before.Format(layout), p.After.Format(layout), p.Moved.Seconds())
}

// Persistence is what a node keeps across Kill and Restart.
type Persistence int

const (
	None      Persistence = iota // nothing: it comes back empty
	AOFAlways                    // everything it has answered: append-only file, appendfsync always
)

// Config says which nodes to start.
type Config struct {
	Kind        Kind
	N           int         // how many, 1 to 26
	Persistence Persistence // the same for all
	// Dir is an existing folder to work in, the caller's to delete. Every node has a folder of its own in it, which
	// Close deletes; the library that steps clocks is compiled into it once. Embedded nodes need none.
	Dir string
}

// StartNodes starts N nodes in parallel, named "A", "B" and so on, and returns when all of them answer PING. If one
// fails, those that have started are closed and the error says which failed and why. ctx bounds the start, not the
// life of the nodes.
func StartNodes(ctx context.Context, c Config) ([]Node, error) {
	const most = 26
	if c.N < 1 || c.N > most {
		return nil, fmt.Errorf("start nodes: %d nodes asked for, 1 to %d are possible", c.N, most)
	}
	if c.Persistence != None && c.Persistence != AOFAlways {
		return nil, fmt.Errorf("start nodes: unknown persistence %d", int(c.Persistence))
	}
	k, err := c.Kind.lookup()
	if err != nil {
		return nil, fmt.Errorf("start nodes: %w", err)
	}
	start, err := k.prepare(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start %s nodes: %w", c.Kind, err)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	nodes := make([]Node, c.N)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			name := nodeName(i)
			n, err := start(ctx, name)
			if err != nil {
				cancel(fmt.Errorf("node %s: %w", name, err))
				return
			}
			nodes[i] = n
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start nodes: %w", err), closeAll(nodes))
	}
	return nodes, nil
}

// nodeName is what the scenarios call the i-th node.
func nodeName(i int) string { return string(rune('A' + i)) }

// closeAll closes the nodes that there are.
func closeAll(nodes []Node) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		if n != nil {
			wg.Go(func() { errs[i] = n.Close() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
