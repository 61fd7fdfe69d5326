package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A Fault is a kind of trouble to search with. A new one is one more entry in Faults, and in injections if it
// needs something that nobody injects yet.
type Fault struct {
	Name  string
	About string
	Draw  func(*drawing)
}

// Faults returns every kind.
func Faults() []Fault {
	return []Fault{
		{"none", "nothing goes wrong but the usual delays", func(*drawing) {}},
		{"client-pause", "a client, or two, stop for longer than the lease", func(d *drawing) {
			for range 1 + d.IntN(2) {
				d.add("pause", "", d.length())
			}
		}},
		{"client-crash", "a client dies", func(d *drawing) { d.add("crash", "", 0) }},
		{"client-clock-back", "a client's wall clock steps back while it waits or holds, and the client pauses", func(d *drawing) {
			d.add("client-clock", "", -2*d.length())
			d.add("pause", "", d.length())
			// Both strike the same client at the same step: nothing else can show what the clock is for.
			last := len(d.plan.Faults) - 1
			d.plan.Faults[last].Client = d.plan.Faults[last-1].Client
			d.plan.Faults[last].Step = d.plan.Faults[last-1].Step
			if d.IntN(2) == 0 {
				d.add("pause", "", d.length())
			}
		}},
		{"client-slow-clock", "a client's clocks run at half speed, and its work takes most of a lease", func(d *drawing) {
			d.plan.Work = TTL * 3 / 4
			d.add("slow", "", 0)
		}},
		{"late-write", "a write is held up on its way to the resource", func(d *drawing) { d.add("late-write", "", d.length()) }},
		{"late-packets", "requests and replies are held up", func(d *drawing) {
			for range 1 + d.IntN(5) {
				d.add([]string{"late-request", "late-reply"}[d.IntN(2)], d.node(), d.length())
			}
		}},
		{"lost-packets", "requests and replies are lost", func(d *drawing) {
			for range 1 + d.IntN(3) {
				d.add([]string{"lose-request", "lose-reply"}[d.IntN(2)], d.node(), 0)
			}
		}},
		{"master-hang", "a master stops, and goes on later", func(d *drawing) { d.add("hang", d.node(), d.length()) }},
		{"master-restart", "a master is killed and comes back with its data", func(d *drawing) {
			d.separate()
			d.add("restart", d.node(), 0)
		}},
		{"master-amnesia", "a master is killed and comes back empty", func(d *drawing) {
			d.separate()
			d.add("amnesia", d.node(), 0)
		}},
		{"master-power-loss", "a master loses power, and with it the last second of writes", func(d *drawing) {
			d.separate()
			d.add("forget", d.node(), time.Second)
		}},
		{"failover", "a master fails over to a replica that lags", func(d *drawing) {
			d.separate()
			d.add("forget", d.node(), time.Duration(1+d.IntN(600))*time.Millisecond)
		}},
		{"master-clock-forward", "a master's clock jumps ahead", func(d *drawing) {
			d.separate()
			d.add("clock", d.node(), d.length())
		}},
		{"master-clock-back", "a master's clock jumps back", func(d *drawing) {
			d.separate()
			d.add("clock", d.node(), -d.length())
		}},
		{"lost-memory-and-clock", "a master comes back empty, and a client's wall clock has gone back: the two faults that tokens do not survive", func(d *drawing) {
			d.separate()
			d.plan.Faults = append(d.plan.Faults, Injection{
				Client: strconv.Itoa(1 + d.IntN(d.plan.Clients)), Step: 1, Fault: "client-clock", Amount: -time.Hour,
			})
			d.add("amnesia", d.node(), 0)
		}},
		{"eviction", "masters under memory pressure evict keys that expire", func(d *drawing) {
			for range 1 + d.IntN(d.masters) {
				d.add("evict", d.node(), 0)
			}
		}},
	}
}

// FaultByName returns one kind.
func FaultByName(name string) (Fault, error) {
	return chaos.ByName("fault", Faults(), name, func(f Fault) string { return f.Name })
}

// injection is what can be done to a world.
type injection struct {
	name      string
	onMaster  bool // it is about a master
	hasAmount bool // it is about a time
	strike    func(w *World, c *client, n *node, amount time.Duration) (story string)
}

var injections = []injection{
	{"pause", false, true, func(w *World, c *client, _ *node, d time.Duration) string {
		w.kernel.pause(&c.host, d)
		return fmt.Sprintf("is stopped for %v", d)
	}},
	{"crash", false, false, func(w *World, c *client, _ *node, _ time.Duration) string {
		w.kernel.crash(&c.host)
		return "dies"
	}},
	{"client-clock", false, true, func(_ *World, c *client, _ *node, d time.Duration) string {
		c.clock.offset += d
		return fmt.Sprintf("its wall clock steps by %v", d)
	}},
	{"slow", false, false, func(_ *World, c *client, _ *node, _ time.Duration) string {
		c.clock.setRate(0.5)
		return "its clocks run at half speed from here on"
	}},
	{"clock", true, true, func(_ *World, _ *client, n *node, d time.Duration) string {
		n.offset += d
		return fmt.Sprintf("its wall clock steps by %v", d)
	}},
	{"late-write", false, true, func(_ *World, c *client, _ *node, d time.Duration) string {
		c.lateWrite = d
		return fmt.Sprintf("its next write is held up for %v", d)
	}},
	{"late-request", true, true, func(w *World, c *client, n *node, d time.Duration) string {
		w.link(c, n).lateRequest = d
		return fmt.Sprintf("its next request from %s is held up for %v", c.name, d)
	}},
	{"late-reply", true, true, func(w *World, c *client, n *node, d time.Duration) string {
		w.link(c, n).lateReply = d
		return fmt.Sprintf("its next reply to %s is held up for %v", c.name, d)
	}},
	{"lose-request", true, false, func(w *World, c *client, n *node, _ time.Duration) string {
		w.link(c, n).loseRequest = true
		return "its next request from " + c.name + " is lost"
	}},
	{"lose-reply", true, false, func(w *World, c *client, n *node, _ time.Duration) string {
		w.link(c, n).loseReply = true
		return "its next reply to " + c.name + " is lost"
	}},
	{"cut", true, false, func(w *World, c *client, n *node, _ time.Duration) string {
		w.link(c, n).cut = true
		return "is cut off from " + c.name
	}},
	{"hang", true, true, func(w *World, _ *client, n *node, d time.Duration) string {
		w.kernel.pause(&n.host, d)
		return fmt.Sprintf("hangs for %v", d)
	}},
	{"restart", true, false, func(_ *World, _ *client, n *node, _ time.Duration) string {
		n.boots++
		return "restarts with its data"
	}},
	{"amnesia", true, false, func(_ *World, _ *client, n *node, _ time.Duration) string {
		n.boots++
		clear(n.data)
		n.journal = nil
		return "restarts empty"
	}},
	{"forget", true, true, func(w *World, _ *client, n *node, d time.Duration) string {
		n.boots++
		n.forget(w.kernel.now - d)
		return fmt.Sprintf("comes back without the writes of the last %v", d)
	}},
	{"evict", true, false, func(_ *World, _ *client, n *node, _ time.Duration) string {
		for key, e := range n.data {
			if e.expires != 0 {
				delete(n.data, key)
			}
		}
		return "evicts every key that expires"
	}},
}

func injectionByName(name string) (injection, error) {
	return chaos.ByName("injection", injections, name, func(i injection) string { return i.name })
}

func (w *World) link(c *client, n *node) *link { return &c.links[n.name[0]-'A'] }

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
	if n == nil {
		text += ", before its " + before
	}
	did := chaos.Began
	if i.Fault == "crash" {
		did = chaos.Died
	}
	w.record(chaos.Event{Actor: actor, Kind: did, Text: text})
}
