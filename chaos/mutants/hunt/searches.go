package main

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// A search is a kind of schedules, and what must be true of them beside what always must: validity, tokens, damage,
// refusals, and that nobody waits for ever.
type search struct {
	name  string
	fault string // of the simulator
	draw  func(*drawing)
	guard chaos.Guard

	work     time.Duration // how long clients work under the lock
	extend   time.Duration // they extend it automatically, up to this limit
	standing bool          // their wall clocks stand still, and the masters keep their counters for ever
	timeout  time.Duration // of a node; 0 = redlock's default for the TTL
	repeats  int           // so many of a client's first requests to acquire are carried out twice by the shared master

	exclusive bool // exclusion holds: no fault makes masters forget
	lasting   bool // endurance holds: no master is silent for long, which could be one of a bare majority that granted
	tidy      tidying
	idle      time.Duration // bound of progress; 0 = none
}

const ttl = sim.TTL

func searches() []search {
	return []search{
		{name: "calm", fault: "none", guard: chaos.GuardNone, work: ttl / 4, exclusive: true, tidy: noKey, idle: ttl / 4},
		{name: "pause", fault: "client-pause", guard: chaos.GuardAll, exclusive: true},
		{name: "crash", fault: "client-crash", guard: chaos.GuardNone, exclusive: true, idle: ttl + ttl/4},
		{name: "clock-back", fault: "client-clock-back", guard: chaos.GuardAll, exclusive: true},
		{name: "slow-clock", fault: "client-slow-clock", guard: chaos.GuardAll},
		{name: "late-write", fault: "late-write", guard: chaos.GuardAll, exclusive: true},
		{name: "late", fault: "late-packets", guard: chaos.GuardNone, exclusive: true},
		{name: "lost", fault: "lost-packets", guard: chaos.GuardNone, work: ttl / 4, exclusive: true, tidy: noKey, idle: ttl / 4},
		{name: "hang", fault: "master-hang", guard: chaos.GuardNone, timeout: ttl / 2, exclusive: true},
		{name: "restart", fault: "master-restart", guard: chaos.GuardNone, exclusive: true},
		{name: "amnesia", fault: "master-amnesia", guard: chaos.GuardAll},
		{name: "power-loss", fault: "master-power-loss", guard: chaos.GuardAll},
		{name: "failover", fault: "failover", guard: chaos.GuardAll},
		{name: "master-forward", fault: "master-clock-forward", guard: chaos.GuardAll},
		{name: "master-back", fault: "master-clock-back", guard: chaos.GuardNone, exclusive: true},
		{name: "eviction", fault: "eviction", guard: chaos.GuardAll},
		{name: "few-reached", draw: loseMajority, guard: chaos.GuardNone, exclusive: true},
		{name: "split", draw: split, guard: chaos.GuardNone, timeout: ttl / 2, exclusive: true, idle: ttl / 2},
		{name: "split-late", draw: splitAndLate, guard: chaos.GuardNone, exclusive: true},
		{name: "counters-pause", draw: splitAndPause, guard: chaos.GuardAll, standing: true, exclusive: true},
		{name: "counters-vanish", draw: splitAndVanish, guard: chaos.GuardAll, standing: true},
		{name: "counters-repeats", draw: meetAndVanish, guard: chaos.GuardAll, standing: true, repeats: 4},
		{name: "extending", fault: "none", guard: chaos.GuardNone, work: 2 * ttl, extend: 20 * ttl, exclusive: true, lasting: true, idle: ttl / 4},
		{name: "extending-to-limit", fault: "none", guard: chaos.GuardAll, work: 3 * ttl, extend: 2 * ttl, exclusive: true},
		{name: "extending-pause", fault: "client-pause", guard: chaos.GuardAll, work: 2 * ttl, extend: 20 * ttl, exclusive: true},
		{name: "extending-lost", fault: "lost-packets", guard: chaos.GuardNone, work: 2 * ttl, extend: 20 * ttl, exclusive: true, lasting: true},
		{name: "extending-late", fault: "late-packets", guard: chaos.GuardAll, work: 2 * ttl, extend: 20 * ttl, exclusive: true, tidy: noReturn},
		{name: "extending-few-reached", draw: loseMajority, guard: chaos.GuardAll, work: 2 * ttl, extend: 20 * ttl, exclusive: true},
		{name: "extending-vanish", draw: vanishMany, guard: chaos.GuardAll, work: 2 * ttl, extend: 20 * ttl},
		{name: "extending-vanish-twice", draw: vanishTwice, guard: chaos.GuardNone, work: 4 * ttl, extend: 20 * ttl, lasting: true},
	}
}

// plan makes the schedule of a seed.
func (s search) plan(seed uint64) sim.Plan {
	p := s.drawn(seed)
	if s.work > 0 {
		p.Work = s.work
	}
	if s.extend > 0 {
		p.Rounds = 1 // one is long enough
	}
	return p
}

func (s search) drawn(seed uint64) sim.Plan {
	if s.draw == nil {
		fault, err := sim.FaultByName(s.fault)
		if err != nil {
			panic(err) // a mistake in the table above
		}
		cell := sim.Cell{
			Scheme: chaos.Scheme{Name: schemeName, Masters: masterCount}, Fault: fault, Guard: s.guard, Workload: chaos.Counter,
		}
		return cell.Draw(seed)
	}
	d := &drawing{rand.New(rand.NewPCG(seed, 2)), sim.Plan{Scheme: schemeName, Fault: s.name, Guard: s.guard, Workload: chaos.Counter, Seed: seed}}
	d.plan.Clients, d.plan.Rounds = 2+d.IntN(2), 1+d.IntN(2)
	s.draw(d)
	return d.plan
}

// drawing is a schedule in the making.
type drawing struct {
	*rand.Rand
	plan sim.Plan
}

// place is where a fault strikes: which client, and before which of its steps.
type place struct {
	client string
	step   int
}

func (d *drawing) place() place {
	return place{strconv.Itoa(1 + d.IntN(d.plan.Clients)), 1 + d.IntN(30)}
}

// upTo returns a time from a millisecond to the most, in whole milliseconds.
func (d *drawing) upTo(most time.Duration) time.Duration {
	return time.Duration(1+d.IntN(int(most/time.Millisecond))) * time.Millisecond
}

func (d *drawing) strike(at place, fault string, node int, amount time.Duration) {
	i := sim.Injection{Client: at.client, Step: at.step, Fault: fault, Amount: amount}
	if node >= 0 {
		i.Node = string(rune('A' + node))
	}
	d.plan.Faults = append(d.plan.Faults, i)
}

// loseMajority keeps a client's questions from three masters: it loses them, once, or stops the masters for a time.
func loseMajority(d *drawing) {
	at, hang := d.place(), d.IntN(2) == 0
	for _, node := range d.Perm(masterCount)[:majority] {
		if hang {
			d.strike(at, "hang", node, ttl+d.upTo(ttl))
		} else {
			d.strike(at, "lose-request", node, 0)
		}
	}
}

// split lets each client reach a majority of its own, so that two of them may share but one master.
func split(d *drawing) {
	for client := 1; client <= d.plan.Clients; client++ {
		for _, node := range d.Perm(masterCount)[majority:] {
			d.strike(place{strconv.Itoa(client), 1}, "cut", node, 0)
		}
	}
}

// splitAndLate has some of a client's requests arrive late.
func splitAndLate(d *drawing) {
	split(d)
	at := d.place()
	for _, node := range d.Perm(masterCount)[:majority] {
		d.strike(at, "late-request", node, d.upTo(2*ttl))
	}
}

// splitAndPause stops clients for longer than their lease.
func splitAndPause(d *drawing) {
	split(d)
	for range 1 + d.IntN(3) {
		d.strike(d.place(), "pause", -1, ttl+d.upTo(ttl))
	}
}

// splitAndVanish has masters lose the lock's key, but not its counter, while a client stops for a moment, less than
// its lease.
func splitAndVanish(d *drawing) {
	split(d)
	d.plan.Clients, d.plan.Rounds = 3, 3
	for range 1 + d.IntN(4) {
		at := d.place()
		for _, node := range d.Perm(masterCount)[:1+d.IntN(masterCount)] {
			d.strike(at, "evict", node, 0)
		}
		d.strike(at, "pause", -1, d.upTo(ttl/2))
	}
}

// shared is the one master on which two halves of the clients meet.
const shared = masterCount / 2

// meetAndVanish lets each client reach one of two majorities that share but one master, and has that one lose the
// lock's key while a client stops for a moment.
func meetAndVanish(d *drawing) {
	d.plan.Clients, d.plan.Rounds = 3, 3
	for client := 1; client <= d.plan.Clients; client++ {
		half := d.IntN(2) * (shared + 1)
		for node := half; node < half+shared; node++ {
			d.strike(place{strconv.Itoa(client), 1}, "cut", node, 0)
		}
	}
	for range 2 + d.IntN(4) {
		at := d.place()
		at.step = 2 + d.IntN(12)
		d.strike(at, "evict", shared, 0)
		d.strike(at, "pause", -1, ttl/4+d.upTo(ttl/2))
	}
}

// vanishMany has most masters lose the lock.
func vanishMany(d *drawing) {
	at := d.place()
	for _, node := range d.Perm(masterCount)[:majority+d.IntN(masterCount-majority+1)] {
		d.strike(at, "evict", node, 0)
	}
}

// vanishTwice has a minority of the masters lose the lock, and another minority later, when the first have been given
// it back. The holder is alone: a rival that gets at a lost key before the repair is not in the wrong.
func vanishTwice(d *drawing) {
	d.plan.Clients, d.plan.Rounds = 1, 1
	at := place{"1", 10 + d.IntN(30)}
	for i, node := range d.Perm(masterCount)[:masterCount-1] {
		if i == masterCount/2 {
			at.step += 20 // an extension and its repair are 9 steps
		}
		d.strike(at, "evict", node, 0)
	}
}
