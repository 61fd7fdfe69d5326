package sim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// client is one simulated client: a host with a clock, a scheme's locker, and a script.
type client struct {
	world     *World
	name      string
	host      host
	clock     hostClock
	random    randomReader
	locker    chaos.Locker
	links     []link        // to each node
	store     link          // to the resource
	lateWrite time.Duration // its next write is delayed by this
	steps     int           // taken so far
	inside    bool
	asking    bool
	done      bool
}

// step is a point between two steps of a client, where faults strike: everything that it sends and hears passes here.
// It reports whether the client lives on.
func (c *client) step(what string) bool {
	c.steps++
	for _, f := range c.world.plan.Faults {
		if f.Client == c.name && f.Step == c.steps {
			c.world.inject(c, f, what)
		}
	}
	return c.world.kernel.stall()
}

// gone reports whether the client, or its world, has ended.
func (c *client) gone() bool { return c.host.crashed || c.world.kernel.over }

// script is what each client does: it waits for the lock, reads the resource, works, looks at its lease, writes back
// what its workload says, and releases; a few times.
func (c *client) script() {
	defer func() { c.done = true }()
	w := c.world
	for range w.plan.Rounds {
		hold := c.acquire()
		if hold == nil {
			return
		}
		c.section(hold)
		if c.gone() {
			return
		}
		c.inside = false
		w.record.Record(chaos.Event{Actor: c.name, Kind: chaos.Left})
		hold.Release(context.Background())
	}
}

// acquire tries until it is granted, or has had enough.
func (c *client) acquire() chaos.Hold {
	w := c.world
	c.asking = true
	defer func() { c.asking = false }()
	w.record.Record(chaos.Event{Actor: c.name, Kind: chaos.Asked})
	for end := w.kernel.now + enough; w.kernel.now < end; {
		hold, err := c.locker.Acquire(context.Background(), lockName)
		if c.gone() {
			return nil
		}
		if err == nil {
			c.inside = true
			w.record.Record(chaos.Event{Actor: c.name, Kind: chaos.Acquired, Token: hold.Token()})
			return hold
		}
		pause := retryPause + time.Duration(w.random.Uint64N(uint64(retryPause)))
		if c.clock.Sleep(context.Background(), pause) != nil {
			return nil
		}
	}
	w.record.Record(chaos.Event{Actor: c.name, Kind: chaos.GaveUp})
	return nil
}

// section is the critical section.
func (c *client) section(hold chaos.Hold) {
	w := c.world
	found, err := c.read(hold.Token())
	if err != nil {
		return
	}
	next, more := w.plan.Workload.Next(found.Value)
	if !more || c.clock.Sleep(context.Background(), w.plan.Work) != nil || !c.step("check") {
		return
	}
	if hold.Remaining() <= 0 {
		return // it looked, as it should: that it is not enough is the point
	}
	c.write(hold.Token(), found, next)
}

func (c *client) read(token redlock.Token) (found chaos.Snapshot, err error) {
	if !c.step("read") {
		return found, errOver
	}
	awaited := c.atStore(func() { found, err = c.world.register.Read(c.name, token) })
	return found, errors.Join(awaited, err)
}

func (c *client) write(token redlock.Token, base chaos.Snapshot, value int) (err error) {
	if !c.step("write") {
		return errOver
	}
	c.store.lateRequest, c.lateWrite = c.lateWrite, 0
	awaited := c.atStore(func() { _, err = c.world.register.Write(c.name, token, base, value) })
	return errors.Join(awaited, err)
}

// atStore has an operation carried out at the resource, and waits for the answer.
func (c *client) atStore(operation func()) error {
	w := c.world
	return c.await(context.Background(), patience, func(arrived func()) {
		w.request(&c.store, nil, packet{do: func() {
			operation()
			w.reply(&c.store, &c.host, packet{do: arrived})
		}})
	})
}

// newClient makes a client of the world's scheme.
func (w *World) newClient(number int) *client {
	c := w.newHost(number)
	m := &masters{world: w, client: c, n: w.scheme.Masters}
	if err := c.open(m, m, TTL); err != nil {
		panic("sim: " + err.Error())
	}
	return c
}

// newHost makes what a client runs on.
func (w *World) newHost(number int) *client {
	c := &client{
		world:  w,
		name:   strconv.Itoa(number),
		links:  make([]link, len(w.nodes)),
		random: randomReader{w},
	}
	c.clock = hostClock{kernel: w.kernel, host: &c.host, rate: 1}
	return c
}

// open makes it a client of the world's scheme.
func (c *client) open(m redlock.Masters, p chaos.Plain, ttl time.Duration) (err error) {
	c.locker, err = c.world.scheme.Open(chaos.Env{Masters: m, Plain: p, Clock: &c.clock, Random: c.random, TTL: ttl})
	if err != nil {
		return fmt.Errorf("open scheme %s: %w", c.world.scheme.Name, err)
	}
	return nil
}

// randomReader gives the schemes their random values, from the seed.
type randomReader struct{ world *World }

func (r randomReader) Read(p []byte) (int, error) {
	for i := 0; i < len(p); {
		bits := r.world.random.Uint64()
		for n := 0; n < 8 && i < len(p); n++ {
			p[i] = byte(bits)
			bits >>= 8
			i++
		}
	}
	return len(p), nil
}
