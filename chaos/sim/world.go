package sim

import (
	"math/rand/v2"
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
	masterCount = 5
	items       = 2 // in stock: fewer than there are buyers in most runs
)

// World is one simulated run: masters, a network, clients, and a resource. All that happens in it follows from its plan.
type World struct {
	plan     Plan
	scheme   chaos.Scheme
	kernel   *kernel
	random   *rand.Rand
	nodes    []*node
	all      []int
	clients  []*client
	register *chaos.Register
	record   *chaos.Recorder
	struck   bool // a fault took effect while a client was inside or asked
}

// Runner plays one plan after the other, on one core, and keeps what it has for the next.
type Runner struct{ kernel kernel }

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
	return w.outcome()
}

// world returns a fresh world.
func (r *Runner) world(scheme chaos.Scheme, plan Plan, each func(chaos.Event)) *World {
	r.kernel.reset()
	w := &World{
		plan: plan, scheme: scheme, kernel: &r.kernel,
		random: rand.New(rand.NewPCG(plan.Seed, 0)),
	}
	w.record = chaos.NewRecorder(func() time.Duration { return w.kernel.now }, each)
	w.register = chaos.NewRegister(chaos.NewMemory(plan.Guard, plan.Workload.Initial(items)), w.record.Record)
	for i := range masterCount {
		w.nodes = append(w.nodes, &node{name: string(rune('A' + i)), data: map[string]entry{}, now: func() time.Duration { return w.kernel.now }})
		w.all = append(w.all, i)
	}
	for _, i := range plan.Faults {
		for _, n := range w.nodes {
			n.journals = n.journals || i.Fault == "forget"
		}
	}
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
