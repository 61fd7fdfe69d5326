package live

import (
	"net"
	"sync"
)

// link is one connection through a Proxy.
type link struct {
	proxy        *Proxy
	client, node *net.TCPConn  // node is nil if the link was opened during a cut
	done         chan struct{} // closed with the connections
	end          sync.Once
	lost         [2]bool // by Direction: bytes have been lost; the proxy's mu guards it
}

// accept takes a connection from the client. It runs in the proxy's accepting goroutine.
func (p *Proxy) accept(conn net.Conn) {
	l := &link{proxy: p, client: conn.(*net.TCPConn), done: make(chan struct{})}
	p.mu.Lock()
	closed, hung := p.ctx.Err() != nil, p.cut
	if !closed {
		p.links[l] = struct{}{}
		l.lost[Requests] = hung // its first packet is
	}
	p.mu.Unlock()
	if closed {
		conn.Close()
		return
	}
	p.count(func(s *Stats) {
		s.Accepted++
		s.Open++
		if hung {
			s.Hung++
		}
	})
	p.running.Go(func() {
		l.run(hung)
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
		p.count(func(s *Stats) { s.Open-- })
	})
}

// run relays until the link has ended.
func (l *link) run(hung bool) {
	if hung {
		newPipe(l, Requests, l.client, nil).run()
		return
	}
	var d net.Dialer
	conn, err := d.DialContext(l.proxy.ctx, "tcp", l.proxy.target)
	if err != nil {
		l.reset()
		return
	}
	if !l.join(conn.(*net.TCPConn)) {
		return
	}
	requests := newPipe(l, Requests, l.client, l.node)
	replies := newPipe(l, Replies, l.node, l.client)
	var both sync.WaitGroup
	both.Go(requests.run)
	both.Go(replies.run)
	both.Wait()
}

// join gives the link its other half, unless it has ended by now.
func (l *link) join(node *net.TCPConn) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	select {
	case <-l.done:
		node.Close()
		return false
	default:
		l.node = node
		return true
	}
}

// close ends both connections in good order.
func (l *link) close() {
	l.end.Do(func() {
		close(l.done)
		l.client.Close()
		if l.node != nil {
			l.node.Close()
		}
	})
}

// reset ends both connections at once, so that their other ends see an error. The caller holds the proxy's mu or is
// l.run before join.
func (l *link) reset() {
	l.client.SetLinger(0)
	if l.node != nil {
		l.node.SetLinger(0)
	}
	l.close()
}

// fateOf says what is to become of the next bytes of that direction, and which channel is closed when that may change.
// Bytes that are to vanish mark the link.
func (l *link) fateOf(dir Direction) (fate, <-chan struct{}) {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.way(dir).fate
	if l.lost[dir] || p.losing(dir) {
		l.lost[dir] = true
		f = drop
	}
	return f, p.changed
}
