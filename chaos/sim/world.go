package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// The times of every simulated run.
const (
	TTL        = 400 * time.Millisecond // the lease
	retryPause = 20 * time.Millisecond  // between two attempts of a client, and up to as much again
	enough     = 50 * TTL               // how long a client tries to acquire
	horizon    = 200 * TTL              // the end of the world
)

const (
	lockName    = "lock"
	masterCount = 5 // and everyMaster names them
	items       = 2 // in stock: fewer than there are buyers in most runs
)

var everyMaster = [masterCount]int{0, 1, 2, 3, 4}

// World is one simulated run: masters, a network, clients, and a resource. All that happens in it follows from its plan.
type World struct {
	plan     Plan
	scheme   chaos.Scheme
	kernel   *kernel
	random   *rand.Rand
	nodes    []*node
	clients  []*client
	register *chaos.Register
	history  chaos.History
	each     func(chaos.Event)
	struck   bool // a fault took effect while a client was inside or asked

	exchanges []*exchange // of this world and those before it
	exchanged int         // in this world
}

// Runner plays one plan after the other, on one core, and keeps what it has for the next.
type Runner struct {
	kernel    kernel
	nodes     []*node
	exchanges []*exchange
	history   chaos.History
	source    rand.PCG
	random    *rand.Rand
}

// Close ends the runner: no coroutine is left.
func (r *Runner) Close() { r.kernel.close() }

// Run plays one plan; see [Runner.Run].
func Run(scheme chaos.Scheme, plan Plan, each func(chaos.Event)) Outcome {
	var r Runner
	defer r.Close()
	return r.Run(scheme, plan, each)
}

// Run plays a plan. It panics if the scheme cannot be opened with the settings that all worlds have, which is a mistake in
// the scheme.
func (r *Runner) Run(scheme chaos.Scheme, plan Plan, each func(chaos.Event)) Outcome {
	w := r.world(scheme, plan, each)
	for number := 1; number <= plan.Clients; number++ {
		c := w.newClient(number)
		w.clients = append(w.clients, c)
		// They do not all come at once.
		w.kernel.spawn(&c.host, time.Duration(w.random.Uint64N(uint64(TTL/4))), c.script)
	}
	w.kernel.run(horizon, w.settled)
	r.exchanges, r.history = w.exchanges, w.history
	return w.outcome()
}

// world returns a fresh world, made of what earlier ones have left.
func (r *Runner) world(scheme chaos.Scheme, plan Plan, each func(chaos.Event)) *World {
	k := &r.kernel
	k.reset()
	now := func() time.Duration { return k.now }
	if r.nodes == nil {
		r.random = rand.New(&r.source)
		for i := range masterCount {
			r.nodes = append(r.nodes, &node{name: string(rune('A' + i)), now: now})
		}
	}
	r.source.Seed(plan.Seed, 0)
	forgets := slices.ContainsFunc(plan.Faults, func(i Injection) bool { return i.Fault == "forget" })
	for _, n := range r.nodes {
		n.reset(forgets)
	}
	w := &World{plan: plan, scheme: scheme, kernel: k, random: r.random, nodes: r.nodes, exchanges: r.exchanges}
	w.history, w.each = r.history[:0], each
	w.register = chaos.NewRegister(chaos.NewMemory(plan.Guard, plan.Workload.Initial(items)), w.record)
	return w
}

// settled reports whether every client is through.
func (w *World) settled() bool {
	for _, c := range w.clients {
		if !c.done && !c.host.crashed {
			return false
		}
	}
	return true
}

// record adds an event, at the present time. (A chaos.Recorder would lock and copy, and nothing is concurrent here.)
func (w *World) record(e chaos.Event) {
	e.At = w.kernel.now
	w.history = append(w.history, e)
	if w.each != nil {
		w.each(e)
	}
}
