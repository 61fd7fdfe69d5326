package sim

import (
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A Fault is a kind of trouble to search with. A new one is one new file and one line in Faults.
type Fault struct {
	Name  string
	About string
	Draw  func(*drawing) // adds injections to a plan
	Uses  []injection    // those that Draw adds
}

// Faults returns every kind.
func Faults() []Fault {
	return []Fault{
		noFault,
		clientPause,
		clientCrash,
		clientClockBack,
		clientSlowClock,
		clientDrift,
		lateWrite,
		latePackets,
		lostPackets,
		masterHang,
		masterRestart,
		masterAmnesia,
		masterPowerLoss,
		failover,
		masterClockForward,
		masterClockBack,
		lostMemoryAndClock,
		eviction,
	}
}

var noFault = Fault{Name: "none", About: "nothing goes wrong but the usual delays", Draw: func(*drawing) {}}

// FaultByName returns one kind.
func FaultByName(name string) (Fault, error) {
	return chaos.ByName("fault", Faults(), name, func(f Fault) string { return f.Name })
}

// injection is something that can be done to a world, at a step of a client.
type injection struct {
	name     string
	onMaster bool // it is about a master
	amount   amount
	strike   func(w *World, c *client, n *node, amount time.Duration) (story string)
}

// amount is what an injection's amount means.
type amount int

const (
	noAmount amount = iota
	length          // for how long
	step            // how far, forward or back
)

// fits reports whether an injection's amount is one.
func (a amount) fits(d time.Duration) bool {
	return a == step && d != 0 || a == length && d > 0 || a == noAmount && d == 0
}

// injections are all that the faults use, in their order.
var injections = collect(Faults())

func collect(faults []Fault) (all []injection) {
	for _, f := range faults {
		for _, i := range f.Uses {
			if !slices.ContainsFunc(all, func(known injection) bool { return known.name == i.name }) {
				all = append(all, i)
			}
		}
	}
	return all
}

func injectionByName(name string) (injection, error) {
	return chaos.ByName("injection", injections, name, func(i injection) string { return i.name })
}

// inject has a fault strike.
func (w *World) inject(c *client, i Injection, before string) {
	kind, err := injectionByName(i.Fault)
	if err != nil {
		return // ParsePlan has seen to it
	}
	actor := c.name
	var n *node
	if i.Node != "" {
		n = w.nodes[i.Node[0]-'A']
		actor = n.name
	}
	for _, other := range w.clients {
		w.struck = w.struck || other.inside || other.asking
	}
	text := kind.strike(w, c, n, i.Amount)
	if i.Fault == cuts.name {
		actor = c.name
	}
	if n == nil {
		text += ", before its " + before
	}
	did := chaos.Began
	if i.Fault == "crash" {
		did = chaos.Died
	}
	w.record(chaos.Event{Actor: actor, Kind: did, Text: text})
}
