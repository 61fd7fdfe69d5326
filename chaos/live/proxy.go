package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Direction is one of the two ways through a Proxy.
type Direction int

const (
	Requests Direction = iota // from the client to the node
	Replies                   // from the node to the client
)

func (d Direction) String() string {
	if d == Requests {
		return "requests"
	}
	return "replies"
}

// Proxy is the network between one client and one node: a TCP relay on loopback. Its faults begin and end while
// connections are open, and what arrives keeps its order.
//
// A stream of bytes cannot have a hole. So a connection that has lost bytes in one direction delivers nothing more in
// that direction, and it is reset when the loss ends (Release, Heal): the client sees a broken connection, never the
// reply to another request.
type Proxy struct {
	target   string
	listener *net.TCPListener
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	ways    [2]way
	cut     bool
	changed chan struct{} // closed and replaced when a fault begins or ends
	links   map[*link]struct{}
	stats   Stats
	counted chan struct{} // closed at the next change of stats; nil while nobody waits for it
}

// way is what happens to the bytes of one direction.
type way struct {
	fate  fate
	delay time.Duration
}

type fate int

const (
	pass fate = iota
	hold
	drop
)

// Traffic counts the bytes of one direction, of all connections since NewProxy. Their sum is what has come in.
type Traffic struct {
	Passed    int64 // delivered
	Held      int64 // waiting in the proxy at this moment, because of Hold or Delay or a receiver that does not read
	Swallowed int64 // lost for good, through Drop or Cut or with a connection that ended
}

// Stats is what a Proxy has counted since NewProxy. It is the proof that a fault took effect: that a reply was swallowed,
// that a request is being held. Bytes are counted a moment after they are delivered, so whoever has seen the effect may
// still have to Await its number.
type Stats struct {
	Requests, Replies Traffic
	Accepted          int // connections that the client has opened
	Hung              int // of these, the ones that were opened during a cut
	Open              int // connections that are open at this moment
}

// NewProxy listens on a free port of 127.0.0.1 and relays every connection to target, a node's host:port. While target
// refuses connections, so does the proxy: by resetting them as soon as they are made.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("new proxy for %s: %w", target, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		target: target, listener: l, ctx: ctx, cancel: cancel,
		changed: make(chan struct{}), links: map[*link]struct{}{},
	}
	p.running.Go(func() { acceptAll(l, p.accept) })
	return p, nil
}

// Addr is the host:port that the client uses in place of the node's.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Delay makes every byte of that direction that comes in from now on wait for d. Zero ends it; what already waits is
// still delivered at its time. It does not delay the making of a connection.
func (p *Proxy) Delay(dir Direction, d time.Duration) {
	p.change(func() { p.way(dir).delay = max(d, 0) })
}

// Hold makes the bytes of that direction wait in the proxy, and the end of a connection too, until Release delivers
// them: as a slow network does, also when their sender has long gone. More than about 1 MB of one connection is left to
// wait at its sender.
func (p *Proxy) Hold(dir Direction) { p.change(func() { p.way(dir).fate = hold }) }

// Drop makes the bytes of that direction vanish until Release, those that are being held included. Connections can be
// opened all the same; Cut prevents that.
func (p *Proxy) Drop(dir Direction) { p.change(func() { p.way(dir).fate = drop }) }

// Release ends Hold and Drop in that direction.
func (p *Proxy) Release(dir Direction) { p.change(func() { p.way(dir).fate = pass }) }

// Cut makes all packets vanish until Heal, as a partition does: what is sent is lost, connections stay open and silent,
// and new ones hang. Nobody is told.
func (p *Proxy) Cut() { p.change(func() { p.cut = true }) }

// Heal ends Cut. Connections on which nothing was sent meanwhile go on, the others are reset. Hold, Drop and Delay are
// as they were.
func (p *Proxy) Heal() { p.change(func() { p.cut = false }) }

// Stats is what has been counted so far.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Await returns as soon as ok holds of the counters, with those counters. If ctx ends or the proxy is closed before, it
// returns an error with the last ones.
func (p *Proxy) Await(ctx context.Context, ok func(Stats) bool) (Stats, error) {
	for {
		p.mu.Lock()
		s := p.stats
		if p.counted == nil {
			p.counted = make(chan struct{})
		}
		counted := p.counted
		p.mu.Unlock()
		if ok(s) {
			return s, nil
		}
		select {
		case <-counted:
		case <-ctx.Done():
			return s, fmt.Errorf("await traffic to %s: %w, with %+v", p.target, ctx.Err(), s)
		case <-p.ctx.Done():
			return s, fmt.Errorf("await traffic to %s: the proxy is closed", p.target)
		}
	}
}

// Close resets every connection, frees the port, and returns when nothing of the proxy is left running. Closing it again
// does nothing.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.mu.Lock()
	for l := range p.links {
		l.reset()
	}
	p.mu.Unlock()
	p.running.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close proxy for %s: %w", p.target, err)
	}
	return nil
}

func (p *Proxy) way(dir Direction) *way {
	if dir == Requests {
		return &p.ways[0]
	}
	return &p.ways[1]
}

// change applies one change to the faults. Connections whose loss ends with it are reset.
func (p *Proxy) change(apply func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	apply()
	close(p.changed)
	p.changed = make(chan struct{})
	for l := range p.links {
		if l.lost[Requests] && !p.losing(Requests) || l.lost[Replies] && !p.losing(Replies) {
			l.reset()
		}
	}
}

// losing says whether bytes of that direction vanish now. The caller holds mu.
func (p *Proxy) losing(dir Direction) bool { return p.cut || p.way(dir).fate == drop }

func (p *Proxy) delayOf(dir Direction) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.way(dir).delay
}

// count applies one change to the counters.
func (p *Proxy) count(apply func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	apply(&p.stats)
	if p.counted != nil {
		close(p.counted)
		p.counted = nil
	}
}

func (s *Stats) of(dir Direction) *Traffic {
	if dir == Requests {
		return &s.Requests
	}
	return &s.Replies
}
