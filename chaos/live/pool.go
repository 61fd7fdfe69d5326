package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Pool starts nodes, and keeps those that are given back for who comes next: starting a redis-server, and a container
// the more, takes far longer than making one as good as new. A node that cannot be made so is closed.
type Pool struct {
	config Config
	lock   string

	mu     sync.Mutex
	starts map[Persistence]startNode
	idle   map[slot][]Node
	out    map[Node]slot
	closed bool
}

// slot is what distinguishes the nodes of a pool.
type slot struct {
	name        string
	persistence Persistence
}

// resetTimeout bounds what making a node as good as new may take; starting another takes less.
const resetTimeout = 10 * time.Second

// NewPool returns a pool of nodes as the Config has them, whose N and Persistence do not matter. It starts none.
func NewPool(c Config) *Pool {
	p := &Pool{
		config: c, lock: "quorumlock-chaos",
		starts: map[Persistence]startNode{}, idle: map[slot][]Node{}, out: map[Node]slot{},
	}
	if c.Kind == Existing {
		// No other run's, and none of the owner's.
		p.lock = fmt.Sprintf("quorumlock-chaos-%016x", rand.Uint64())
	}
	p.config.own = p.lock
	return p
}

// String is what a person asks for to have such nodes again, without the hosts and passwords of what is somebody else's.
func (p *Pool) String() string {
	if p.config.Kind == Existing {
		return "redis://..."
	}
	return p.config.Kind.String()
}

// Lock is the name of the lock that the clients of the nodes are to want. All keys that are written have it in their
// name.
func (p *Pool) Lock() string { return p.lock }

// Warning is what a person must agree to before anything is written to masters that are somebody else's; "" where none
// is needed.
func (p *Pool) Warning() string {
	if p.config.Kind != Existing {
		return ""
	}
	return fmt.Sprintf("Clients that are stopped and cut off on purpose will write keys with %q in their names to the %d masters. "+
		"The keys are deleted in the end; the locks' scripts stay in the masters' caches. No other key is touched, and no "+
		"fault is injected into a master.", p.lock, len(p.config.URLs))
}

// Take returns nodes "A", "B" and so on as StartNodes does, but starts only those that it has not.
func (p *Pool) Take(ctx context.Context, n int, persistence Persistence) ([]Node, error) {
	const most = 26
	if n < 1 || n > most {
		return nil, fmt.Errorf("start nodes: %d nodes asked for, 1 to %d are possible", n, most)
	}
	if persistence < None || persistence > AOFEverysec {
		return nil, fmt.Errorf("start nodes: unknown persistence %d", int(persistence))
	}
	start, err := p.prepare(ctx, persistence)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	nodes := make([]Node, n)
	var wg sync.WaitGroup
	for i := range nodes {
		s := slot{nodeName(i), persistence}
		if nodes[i] = p.reuse(s); nodes[i] != nil {
			continue
		}
		wg.Go(func() {
			node, err := start(ctx, s.name)
			if err != nil {
				cancel(fmt.Errorf("node %s: %w", s.name, err))
				return
			}
			nodes[i] = node
			if !p.note(node, s) {
				cancel(errors.New("the pool is closed"))
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start nodes: %w", err), p.discard(nodes))
	}
	return nodes, nil
}

// prepare does once for each persistence what starting needs.
func (p *Pool) prepare(ctx context.Context, persistence Persistence) (startNode, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("start nodes: the pool is closed")
	}
	if start, ok := p.starts[persistence]; ok {
		return start, nil
	}
	k, err := p.config.Kind.lookup()
	if err != nil {
		return nil, fmt.Errorf("start nodes: %w", err)
	}
	c := p.config
	c.Persistence = persistence
	start, err := k.prepare(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start %s nodes: %w", c.Kind, err)
	}
	p.starts[persistence] = start
	return start, nil
}

// reuse returns a node that is idle, or nil.
func (p *Pool) reuse(s slot) Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[s]
	if len(idle) == 0 {
		return nil
	}
	n := idle[len(idle)-1]
	p.idle[s] = idle[:len(idle)-1]
	p.out[n] = s
	return n
}

// note remembers a node that was started, unless the pool is closed.
func (p *Pool) note(n Node, s slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.out[n] = s
	return true
}

// Give takes back nodes that Take returned, whatever was done to them. Who gives them must have ended the clients, or
// their last commands would reach the next run. The error is about a node that could not be closed.
func (p *Pool) Give(nodes []Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			if n.reset(ctx) != nil || !p.keep(n) {
				errs[i] = p.discard([]Node{n})
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// keep makes a node idle, unless the pool is closed.
func (p *Pool) keep(n Node) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.out[n]
	if p.closed || !ok {
		return false
	}
	delete(p.out, n)
	p.idle[s] = append(p.idle[s], n)
	return true
}

// discard closes nodes and forgets them.
func (p *Pool) discard(nodes []Node) error {
	p.mu.Lock()
	for _, n := range nodes {
		delete(p.out, n)
	}
	p.mu.Unlock()
	return closeAll(nodes)
}

// Close closes all nodes, those too that have not been given back.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	var all []Node
	for n := range p.out {
		all = append(all, n)
	}
	for _, idle := range p.idle {
		all = append(all, idle...)
	}
	clear(p.out)
	clear(p.idle)
	p.mu.Unlock()
	return closeAll(all)
}
