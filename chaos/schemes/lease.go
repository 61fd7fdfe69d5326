package schemes

import (
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
)

// forever is what is left of a lock that does not expire: a century, so that it can still be added to a time.
const forever = 100 * 365 * 24 * time.Hour

// lease is what a client believes of its lock: that it lasts for the TTL, by the client's own clock, from when the
// answer was there. That is how most clients count, and too long by the time that the answer took.
type lease struct {
	clock clock.Clock

	mu    sync.Mutex // a watchdog renews the lease beside its holder
	ttl   time.Duration
	since clock.Reading
}

// begin starts the lease, or starts it anew.
func (l *lease) begin(ttl time.Duration) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ttl, l.since = ttl, now
}

func (l *lease) Remaining() time.Duration {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ttl == forever {
		return forever
	}
	return max(l.ttl-now.Since(l.since), 0)
}

// draw returns a fresh value, by which an attempt knows its own key.
func draw(env chaos.Env) (string, error) {
	var value [20]byte
	if _, err := io.ReadFull(env.Random, value[:]); err != nil {
		return "", fmt.Errorf("draw a value: %w", err)
	}
	return hex.EncodeToString(value[:]), nil
}
