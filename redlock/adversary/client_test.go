package adversary

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A client is a real redlock.Client, and all that it knows of the world: its masters, its clock and its randomness.
type client struct {
	world     *world
	real      *redlock.Client
	number    int
	wall      int64 // its clock, in microseconds
	left      int   // acquisitions that it may still begin
	begun     int
	busy      bool
	attempt   *attempt      // the last one
	lock      *redlock.Lock // what that was granted, until it is released
	processes []*process    // oldest first
}

func newClient(w *world, number, left int) *client {
	c := &client{world: w, number: number, left: left}
	var err error
	if c.real, err = redlock.NewOver(c, redlock.WithClock(c), redlock.WithRandom(c)); err != nil {
		panic(err) // the options are the same each time
	}
	return c
}

// walls are what a clock may show, and with it a client propose: mostly the same, as only equal proposals could lead to
// equal tokens.
var walls = [...]int64{1, 1, 1, 1, 2, 2, 3, 9}

// begin has the client acquire the lock, whether or not it still holds it from before.
func (c *client) begin(_, _ int) bool {
	w := c.world
	if c.busy || c.left == 0 {
		return false
	}
	c.wall = walls[w.choose(len(walls))]
	a := &attempt{client: c, name: fmt.Sprintf("%d%c", c.number, 'a'+c.begun), began: w.step}
	c.attempt, c.lock = a, nil
	c.begun++
	c.left--
	return c.do(func() {
		l, err := c.real.TryAcquire(context.Background(), "lock")
		switch {
		case w.over:
		case err == nil:
			c.lock = l
			w.grant(a, l.Token())
		case errors.As(err, new(*redlock.QuorumError)):
			w.tell("%s is refused", a.name)
		default:
			w.violate("error: %s: %v", a.name, err)
		}
	})
}

func (c *client) release(_, _ int) bool {
	l := c.lock
	if c.busy || l == nil {
		return false
	}
	c.lock = nil
	return c.do(func() { l.Release(context.Background()) })
}

func (c *client) extend(_, _ int) bool {
	l := c.lock
	if c.busy || l == nil {
		return false
	}
	c.wall++ // or there would be nothing to extend
	return c.do(func() { l.Extend(context.Background()) })
}

func (c *client) do(f func()) bool {
	c.busy = true
	c.spawn(false, func() {
		f()
		c.busy = false
	})
	return true
}

// wake ends a Sleep, or starts what was given to AfterFunc.
func (c *client) wake(_, n int) bool {
	return nth(c.processes, n, func(p *process) bool { return p.asleep }, func(p *process) { p.asleep = false })
}

// Read implements io.Reader. It numbers the attempts.
func (c *client) Read(p []byte) (int, error) {
	clear(p)
	p[0], p[1] = byte(c.number), byte(c.begun)
	c.world.attempts[hex.EncodeToString(p)] = c.attempt
	return len(p), nil
}

// Len implements redlock.Masters.
func (c *client) Len() int { return len(c.world.nodes) }

// Send implements redlock.Masters.
func (c *client) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		if c.world.over || ctx.Err() != nil {
			return
		}
		r, asked := c.ask(cmd)
		defer func() { r.waiting = [5]bool{} }()
		for range asked {
			c.world.park(false, func() bool { return len(r.inbox) > 0 || ctx.Err() != nil })
			if len(r.inbox) == 0 {
				return
			}
			reply := r.inbox[0]
			r.inbox = r.inbox[1:]
			if !yield(reply) {
				return
			}
		}
	}
}

// ask sends a request to each master.
func (c *client) ask(cmd redlock.Command) (r *round, asked int) {
	w := c.world
	r = &round{client: c, attempt: w.attempts[cmd.Value], cmd: cmd}
	switch cmd.Op {
	case redlock.OpAcquire:
		w.tell("%s begins, proposing %d", r.attempt.name, cmd.Token)
	case redlock.OpConfirm:
		r.attempt.confirming++
	}
	for i := range w.nodes {
		if cmd.Nodes == nil || slices.Contains(cmd.Nodes, i) {
			asked++
			r.waiting[i] = true
			w.messages = append(w.messages, &message{round: r, node: i})
		}
	}
	w.rounds = append(w.rounds, r)
	return r, asked
}

// Now implements clock.Clock. No time passes, so that a client believes in its leases for ever, however early the
// masters forget them.
func (c *client) Now() clock.Reading { return clock.Reading{Wall: time.UnixMicro(c.wall)} }

// Sleep implements clock.Clock. The adversary says when it is over.
func (c *client) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil || d <= 0 {
		return ctx.Err()
	}
	p, finite := c.world.running, d < clock.Forever
	if !c.world.park(finite, func() bool { return ctx.Err() != nil || finite && !p.asleep }) {
		return errors.New("the world is over")
	}
	return ctx.Err()
}

// AfterFunc implements clock.Clock. What is due at once has started and takes its time; what is not never is.
func (c *client) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 && !c.world.over {
		c.spawn(true, f)
	}
	return func() bool { return d > 0 }
}

// A process is one flow of control of a client, as a coroutine: it runs when it is resumed, until it waits.
type process struct {
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	ready  func() bool // what it waits for has come
	asleep bool        // it waits for time to pass, which is for the adversary to say
	done   bool
}

// spawn makes a process that runs f. One that is asleep is started by the adversary, others run at once.
func (c *client) spawn(asleep bool, f func()) {
	p := &process{asleep: asleep}
	p.ready = func() bool { return !p.asleep }
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		f()
	})
	c.processes = append(c.processes, p)
}

// park has the running process wait. It reports false when the world has ended: then nobody waits.
func (w *world) park(asleep bool, ready func() bool) bool {
	if w.over {
		return false
	}
	p := w.running
	p.asleep, p.ready = asleep, ready
	ok := p.yield(struct{}{})
	p.asleep = false
	return ok
}

// resume runs all processes that need not wait, until all must.
func (w *world) resume() {
	for again := true; again; {
		again = false
		for _, c := range w.clients {
			for _, p := range c.processes {
				if !p.done && p.ready() {
					again = true
					w.running = p
					_, more := p.next()
					p.done = !more
				}
			}
			c.processes = slices.DeleteFunc(c.processes, func(p *process) bool { return p.done })
		}
	}
}

// end ends the world, and with it every process.
func (w *world) end() {
	w.over = true
	for _, c := range w.clients {
		for _, p := range c.processes {
			w.running = p
			p.stop()
		}
	}
}
