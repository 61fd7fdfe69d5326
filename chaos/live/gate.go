package live

import (
	"net"
	"sync"
)

// gate holds up all that comes and goes over the connections of an embedded node while it is shut: what a process that
// stands still would leave in its sockets.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) unlock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

func (g *gate) passage() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// guard returns the connection as seen from behind the gate.
func (g *gate) guard(conn net.Conn) net.Conn {
	return &gatedConn{Conn: conn, gate: g, closed: make(chan struct{})}
}

type gatedConn struct {
	net.Conn
	gate   *gate
	once   sync.Once
	closed chan struct{}
}

// pass waits for the gate to be open, or for the end of the connection.
func (c *gatedConn) pass() {
	select {
	case <-c.gate.passage():
	case <-c.closed:
	}
}

func (c *gatedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.pass()
	return n, err
}

func (c *gatedConn) Write(p []byte) (int, error) {
	c.pass()
	return c.Conn.Write(p)
}

func (c *gatedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
