package live

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// embeddedClock is the wall clock of one miniredis: the host's, an offset, and a rate. Miniredis has a clock that stands still
// where it was last set (SetTime), so it is set before every command. A script then sees one time from its first command
// to its last, as in Redis.
type embeddedClock struct {
	mu     sync.Mutex // held while the time is read and set, so that no later reading is set first
	offset time.Duration
	gain   float64   // of the rate: -0.2 is a fifth too slow
	since  time.Time // when the rate was set
	peers  sync.Map  // of *server.Peer: the connections, as opposed to the scripts
}

// start makes the TTLs of an empty miniredis run by this clock.
func (c *embeddedClock) start(m *miniredis.Miniredis) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(m)
	m.ClockTTL(true)
}

// hook is called by a miniredis before every command, also before those of a script. In a script miniredis is locked,
// setting its clock would wait for ever.
func (c *embeddedClock) hook(m *miniredis.Miniredis) server.Hook {
	return func(peer *server.Peer, _ string, _ ...string) bool {
		// A connection has no context before its first command; a script is born with one.
		if peer.Ctx == nil {
			c.peers.Store(peer, nil)
			peer.OnDisconnect(func() { c.peers.Delete(peer) })
		}
		if _, isConn := c.peers.Load(peer); isConn {
			c.mu.Lock()
			c.set(m)
			c.mu.Unlock()
		}
		return false
	}
}

// set sets the clock of m. The caller holds mu.
func (c *embeddedClock) set(m *miniredis.Miniredis) {
	now := time.Now()
	m.SetTime(now.Add(c.moved(now)))
}

// moved is how far the clock is off. The caller holds mu.
func (c *embeddedClock) moved(now time.Time) time.Duration {
	if c.gain == 0 {
		return c.offset
	}
	return c.offset + time.Duration(c.gain*float64(now.Sub(c.since)))
}

// drift makes the clock run at a rate, from where it is, and returns the rate that it had.
func (c *embeddedClock) drift(rate float64) (was float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	was = 1 + c.gain
	c.offset = c.moved(now)
	c.gain, c.since = rate-1, now
	return was
}

// reset makes the clock right.
func (c *embeddedClock) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.gain = 0, 0
}

// step moves the clock by d. Redis keeps the time at which a key expires, miniredis the time that it has left; so after
// a step backwards what is left is made longer here, and after one forwards miniredis makes it shorter.
func (c *embeddedClock) step(m *miniredis.Miniredis, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(m)
	settle(m)
	c.offset += d
	if d < 0 {
		m.FastForward(d)
	}
	c.set(m)
	settle(m)
}

// settle makes miniredis take the time that has passed off every TTL: touching a database does.
func settle(m *miniredis.Miniredis) { m.DB(0) }
