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

// Node is one Redis master. Its methods may be called from any goroutine; those that change the node run one after
// another. They fail on a node that is not in the state they start from (Kill and Pause want it running, Restart wants it
// down, Resume wants it paused), because a fault that changes nothing is a mistake of the script that asked for it.
//
// A fault that returns nil has taken effect, and the text beside it is a line that says how that was seen. It begins with
// "emulated:" where the node only behaves as if. A fault that this node cannot have is an error that wraps
// ErrUnsupported, one that did nothing an error that wraps ErrNoEffect.
type Node interface {
	// Name is a letter: the first node is "A".
	Name() string
	// Addr is the node's host:port. It stays the same across Restart.
	Addr() string
	// URL is the node's, for a client that reaches it at that host:port.
	URL(addr string) string
	// Ask sends one command and returns the reply, an array's elements one by one.
	Ask(ctx context.Context, command ...string) ([]string, error)
	// Time is the node's wall clock, by Redis TIME, in whole microseconds.
	Time(ctx context.Context) (time.Time, error)

	// Kill ends the node as kill -9 does and returns when it is gone, which ctx does not cut short. It works on a paused
	// node too.
	Kill(ctx context.Context) error
	// Restart starts a killed node again, on the same port, and returns when it answers PING. The node has the data that
	// its Persistence kept, and the wall clock that it had: TTLs have run on while it was down.
	Restart(ctx context.Context) error
	// PowerLoss is Kill and Restart of a node that then has only what was on its disk: nothing of what it answered in the
	// last second if its Persistence is AOFEverysec, all if it is AOFAlways.
	PowerLoss(ctx context.Context) (string, error)
	// Pause makes the node hang, as SIGSTOP does: connections stay open and nothing is answered.
	Pause(ctx context.Context) (string, error)
	// Resume lets a paused node go on, as SIGCONT does, and returns when it answers PING. Requests that came in
	// meanwhile are executed.
	Resume(ctx context.Context) error
	// StepClock moves the node's wall clock by d, forwards or backwards, and proves it by Redis TIME. Every key with a
	// TTL moves with it.
	StepClock(ctx context.Context, d time.Duration) (Proof, error)
	// Drift makes the node's wall clock run at a rate from here on, without a step: 0.8 is a fifth too slow, 1 is right
	// again. The proof are two readings of Redis TIME, so far apart that the difference shows.
	Drift(ctx context.Context, rate float64) (string, error)
	// Evict puts the node under memory pressure, with that maxmemory-policy, until the keys are gone, and takes the
	// pressure away. The keys must be there, and live longer than that takes. Others may go too, as the policy has it.
	Evict(ctx context.Context, policy string, keys ...string) (string, error)
	// FlushAll deletes all keys.
	FlushAll(ctx context.Context) (string, error)
	// StartReplica starts a replica of the node and returns when it has all that the node has.
	StartReplica(ctx context.Context) (*Replica, error)

	// Close stops the node and deletes its data; a master that is somebody else's only loses what this harness wrote.
	// Closing it again does nothing.
	Close() error

	// reset makes the node as good as new, whatever was done to it, and proves it: no keys, the right time. Where that
	// cannot be it is an error.
	reset(ctx context.Context) error
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
	None        Persistence = iota // nothing: it comes back empty
	AOFAlways                      // everything it has answered: append-only file, appendfsync always
	AOFEverysec                    // the same with appendfsync everysec: all but, after a loss of power, the last second
)

// Config says which nodes to start.
type Config struct {
	Kind        Kind
	N           int         // how many, 1 to 26
	Persistence Persistence // the same for all
	// Dir is an existing folder to work in, the caller's to delete. Every node has a folder of its own in it, which
	// Close deletes; the library that steps clocks is compiled into it once. Docker and Process nodes need it.
	Dir string
	// URLs are the masters of Kind Existing. Node A is the first.
	URLs []string
	// own is in the name of every key that is written: what an Existing master must lose in the end.
	own string
}

// StartNodes starts N nodes in parallel, named "A", "B" and so on, and returns when all of them answer PING. If one
// fails, those that have started are closed and the error says which failed and why. ctx bounds the start, not the
// life of the nodes.
func StartNodes(ctx context.Context, c Config) ([]Node, error) {
	return NewPool(c).Take(ctx, c.N, c.Persistence)
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
