package sim

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"syscall"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// The network's usual delay, one way: at least latency, and up to jitter more.
const (
	latency = 500 * time.Microsecond
	jitter  = time.Millisecond
)

// link is what lies between a client and a node, or the resource. What is sent over it arrives in order, but for
// packets that a fault delays: those may come over a connection that has long been given up.
type link struct {
	cut         bool
	lateRequest time.Duration // the next request is delayed by this
	lateReply   time.Duration
	loseRequest bool // the next request is lost
	loseReply   bool
	breaks      bool          // the connection breaks under the next reply
	broke       int           // how often it has
	there, back time.Duration // when the last packet arrived, either way
}

// packet is something on its way: between a client and a node, as part of an exchange, or a call.
type packet struct {
	exchange *exchange
	node     int
	leg      leg
	do       func()
}

// leg is how far an exchange with a node has come.
type leg uint8

const (
	arriving  leg = iota // the request reaches the node
	returning            // its reply reaches the client
	refused              // the news that there is no connection does
	broken               // the news does that the connection broke under the reply
	late                 // the client stops waiting
)

func (p packet) arrive() {
	if p.do != nil {
		p.do()
		return
	}
	p.exchange.proceed(p.node, p.leg)
}

// travel plans the arrival of a packet. The flags of the next packet are used up.
func (w *World) travel(l *link, last, late *time.Duration, lose *bool, to *host, p packet) {
	d := latency + time.Duration(w.random.Uint64N(uint64(jitter)))
	if l.cut || *lose {
		*lose = false
		return
	}
	if *late > 0 {
		d += *late
		*late = 0
	} else {
		*last = max(*last, w.kernel.now+d)
		d = *last - w.kernel.now
	}
	w.kernel.plan(d, event{host: to, packet: p})
}

func (w *World) request(l *link, to *host, p packet) {
	w.travel(l, &l.there, &l.lateRequest, &l.loseRequest, to, p)
}

func (w *World) reply(l *link, to *host, p packet) {
	w.travel(l, &l.back, &l.lateReply, &l.loseReply, to, p)
}

// exchange is one command on its way to some nodes and back: a round of redlock's, or one of Redis' own commands.
type exchange struct {
	client  *client
	cmd     redlock.Command
	counter string   // the lock's, of cmd
	plain   []string // instead of cmd
	legs    []struct {
		boots int // of the node when it was asked
		reply redlock.Reply
		text  answer
	}
	inbox   []int // nodes whose answer has arrived, in order
	late    bool
	waiting *process
	wakes   int
}

// send sends the command to nodes.
func (x *exchange) send(nodes []int, timeout time.Duration) {
	w := x.client.world
	x.legs = append(x.legs, make([]struct {
		boots int
		reply redlock.Reply
		text  answer
	}, len(w.nodes))...)
	x.inbox = make([]int, 0, len(nodes))
	for _, i := range nodes {
		x.ask(i)
	}
	w.kernel.plan(x.client.clock.real(timeout), event{host: &x.client.host, packet: packet{exchange: x, leg: late}})
}

// ask sends the command to one node.
func (x *exchange) ask(i int) {
	c, w := x.client, x.client.world
	x.legs[i].boots = w.nodes[i].boots
	w.request(&c.links[i], &w.nodes[i].host, packet{exchange: x, node: i, leg: arriving})
}

// proceed is what a packet's arrival does.
func (x *exchange) proceed(i int, at leg) {
	c, w := x.client, x.client.world
	switch at {
	case arriving:
		n, next := w.nodes[i], returning
		switch wall := n.wall(w.kernel.now); {
		case n.down || n.boots != x.legs[i].boots: // the connection is gone with the server that it led to, and what was on it
			next = refused
		case x.plain != nil:
			x.legs[i].text = n.do(x.plain, wall)
		default:
			x.legs[i].reply = n.carryOut(&x.cmd, x.counter, wall)
		}
		if l := &c.links[i]; l.breaks && next == returning {
			l.breaks, next = false, broken
			l.broke++
		}
		w.reply(&c.links[i], &c.host, packet{exchange: x, node: i, leg: next})
		return
	case broken: // what a client library has no answer to it asks again (go-redis #2985)
		x.ask(i)
		return
	case refused:
		x.legs[i].reply.Err, x.legs[i].text.err = errRefused, errRefused
		x.inbox = append(x.inbox, i)
	case returning:
		x.inbox = append(x.inbox, i)
	case late:
		x.late = true
	}
	if x.waiting != nil {
		w.kernel.wakeSoon(x.waiting, x.wakes)
	}
}

// next waits for the next answer; it returns false if there is none to wait for any more.
func (x *exchange) next(ctx context.Context) (node int, ok bool) {
	k := x.client.world.kernel
	for len(x.inbox) == 0 {
		if x.late || ctx.Err() != nil {
			return 0, false
		}
		x.waiting, x.wakes = k.running, k.running.wakes
		alive := k.park(ctx)
		x.waiting = nil
		if !alive {
			return 0, false
		}
	}
	node, x.inbox = x.inbox[0], x.inbox[1:]
	return node, true
}

var errRefused = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)

// masters are the [redlock.Masters] of one client.
type masters struct {
	world  *World
	client *client
	n      int
}

func (m *masters) Len() int                 { return m.n }
func (m *masters) NodeName(node int) string { return m.world.nodes[node].name }

func (m *masters) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		w, c := m.world, m.client
		if !c.step(cmd.Op.String()) || ctx.Err() != nil {
			return
		}
		nodes := cmd.Nodes
		if nodes == nil {
			nodes = w.all[:m.n]
		}
		x := &exchange{client: c, cmd: cmd, counter: cmd.Counter()}
		x.send(nodes, cmd.Timeout)
		answered := 0
		for range nodes {
			i, ok := x.next(ctx)
			if !ok {
				break
			}
			answered |= 1 << i
			r := x.legs[i].reply
			r.Node = i
			if !c.step("answer") || !yield(r) {
				return
			}
		}
		for _, i := range nodes {
			if answered&(1<<i) != 0 {
				continue
			}
			if ctx.Err() != nil || c.gone() || !yield(redlock.Reply{Node: i, Err: errSilent}) {
				return
			}
		}
	}
}

var errSilent = fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded)

// patience is a client library's usual time-out for an answer.
const patience = 5 * time.Second

// Do implements [chaos.Plain].
func (m *masters) Do(ctx context.Context, master int, command ...string) (string, bool, error) {
	w, c := m.world, m.client
	if !c.step(command[0]) {
		return "", false, errOver
	}
	x := &exchange{client: c, plain: command}
	x.send(w.all[master:master+1], patience)
	if _, ok := x.next(ctx); !ok {
		return "", false, cmp.Or(ctx.Err(), errSilent)
	}
	if !c.step("answer") {
		return "", false, errOver
	}
	a := x.legs[master].text
	return a.text, a.ok, a.err
}

// await sends something and waits until its answer has arrived.
func (c *client) await(ctx context.Context, timeout time.Duration, send func(arrived func())) error {
	k := c.world.kernel
	p, wakes := k.running, k.running.wakes
	arrived, late := false, false
	send(func() { arrived = true; k.wakeSoon(p, wakes) })
	k.after(c.clock.real(timeout), &c.host, func() { late = true; k.wakeSoon(p, wakes) })
	for !arrived {
		if late {
			return errSilent
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		wakes = p.wakes
		if !k.park(ctx) {
			return errOver
		}
	}
	return nil
}
