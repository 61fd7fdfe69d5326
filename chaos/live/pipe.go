package live

import (
	"net"
	"slices"
	"sync"
	"time"
)

// pipe is one direction of a link: a queue between the goroutine that reads and the one that delivers.
type pipe struct {
	link     *link
	dir      Direction
	from, to *net.TCPConn  // to is nil if there is nobody to deliver to
	arrived  chan struct{} // something was put into the empty queue
	taken    chan struct{} // something was taken from the full queue

	mu    sync.Mutex
	queue []parcel
	bytes int // in the queue, with what each parcel takes up itself
}

// parcel is what one read has brought: bytes, or none when the sender has closed.
type parcel struct {
	bytes []byte
	due   time.Time
}

const (
	pipeRoom   = 1 << 20 // bytes that a pipe holds before it stops reading
	readSize   = 32 << 10
	parcelSize = 64 // bytes that a parcel takes up beside its own
)

func newPipe(l *link, dir Direction, from, to *net.TCPConn) *pipe {
	return &pipe{
		link: l, dir: dir, from: from, to: to,
		arrived: make(chan struct{}, 1), taken: make(chan struct{}, 1),
	}
}

// run returns when the link has ended.
func (p *pipe) run() {
	var reading sync.WaitGroup
	reading.Go(p.read)
	p.deliver()
	reading.Wait()
	p.forget()
}

func (p *pipe) read() {
	buf := make([]byte, readSize)
	for {
		n, err := p.from.Read(buf)
		if n > 0 && !p.put(slices.Clone(buf[:n])) {
			return
		}
		if err != nil {
			p.put(nil)
			return
		}
	}
}

// put adds to the queue, and waits while it is full. It reports false when the link has ended.
func (p *pipe) put(b []byte) bool {
	due := time.Now().Add(p.link.proxy.delayOf(p.dir))
	for {
		p.mu.Lock()
		if p.bytes < pipeRoom {
			break
		}
		p.mu.Unlock()
		select {
		case <-p.taken:
		case <-p.link.done:
			return false
		}
	}
	// Counted as held before anybody can take it, or there would be less than nothing for a moment.
	p.link.proxy.count(func(s *Stats) { s.of(p.dir).Held += int64(len(b)) })
	p.queue = append(p.queue, parcel{b, due})
	p.bytes += len(b) + parcelSize
	p.mu.Unlock()
	wake(p.arrived)
	return true
}

// first waits for something to be in the queue. It reports false when the link has ended.
func (p *pipe) first() (parcel, bool) {
	for {
		p.mu.Lock()
		if len(p.queue) > 0 {
			defer p.mu.Unlock()
			return p.queue[0], true
		}
		p.mu.Unlock()
		select {
		case <-p.arrived:
		case <-p.link.done:
			return parcel{}, false
		}
	}
}

// take removes the first of the queue, which has been delivered or lost.
func (p *pipe) take(delivered bool) {
	p.mu.Lock()
	n := len(p.queue[0].bytes)
	p.queue[0] = parcel{}
	p.queue = p.queue[1:]
	p.bytes -= n + parcelSize
	p.mu.Unlock()
	wake(p.taken)
	p.link.proxy.count(func(s *Stats) {
		t := s.of(p.dir)
		t.Held -= int64(n)
		if delivered {
			t.Passed += int64(n)
		} else {
			t.Swallowed += int64(n)
		}
	})
}

// forget counts what is left when the link has ended.
func (p *pipe) forget() {
	for range len(p.queue) {
		p.take(false)
	}
}

// deliver does with the queue, from its first to its last, what the faults of the moment ask for.
func (p *pipe) deliver() {
	receiving := true
	for {
		next, ok := p.first()
		if !ok || !p.awaitDue(next.due) {
			return
		}
		f, changed := p.link.fateOf(p.dir)
		if f == hold {
			select {
			case <-changed:
				continue
			case <-p.link.done:
				return
			}
		}
		if next.bytes == nil {
			p.deliverEnd(f)
			p.take(false)
			continue
		}
		passed := false
		if f == pass && receiving {
			_, err := p.to.Write(next.bytes)
			passed = err == nil
			// A receiver that has gone ends nothing: what its peer has still to say goes its own way.
			receiving = passed
		}
		p.take(passed)
	}
}

// deliverEnd tells the receiver that the sender has closed. A node that closes has ended, and the link with it; a client
// that closes may still be owed replies, and the node closes in turn.
func (p *pipe) deliverEnd(f fate) {
	switch {
	case p.to == nil:
		p.link.close()
	case f == drop:
	case p.dir == Requests:
		p.to.CloseWrite()
	default:
		p.link.close()
	}
}

// awaitDue waits until a parcel may be delivered. It reports false when the link has ended.
func (p *pipe) awaitDue(due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.link.done:
		return false
	}
}

// wake leaves a note for a goroutine that waits, or will wait, on c.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
