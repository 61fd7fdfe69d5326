package schemes

import (
	"context"
	"sync"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// singleWatchdog is single with a watchdog, as the popular libraries have it: the lease is extended every third of it
// for as long as the lock is held ("Distributed locks with Redis", "Making the algorithm more reliable: Extending the
// lock"). It saves work that takes long; it does not save a process that stands still for longer than the lease, since
// the watchdog stands still with it (Kleppmann, "Protecting a resource with a lock"). An extension that fails is tried
// again at the next tick, also when the lock is another's by now, and the holder is never told.
var singleWatchdog = chaos.Scheme{
	Name:    "single-watchdog",
	About:   "single, and extended every TTL/3 while it is held; the holder never hears that it failed",
	Masters: 1,
	Open: func(env chaos.Env) (chaos.Locker, error) {
		return watchdog{singleClient{env}, env}, nil
	},
}

// watchdog is a client whose holds extend themselves.
type watchdog struct {
	chaos.Locker
	env chaos.Env
}

func (w watchdog) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	hold, err := w.Locker.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	h := &watchedHold{Hold: hold, env: w.env}
	h.held, h.end = context.WithCancel(context.Background())
	h.watch()
	return h, nil
}

type watchedHold struct {
	chaos.Hold
	env  chaos.Env
	held context.Context // ends with Release
	end  context.CancelFunc

	mu   sync.Mutex
	stop func() bool // the next tick
}

// watch plans the next tick, unless the lock has been released.
func (h *watchedHold) watch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held.Err() == nil {
		h.stop = h.env.Clock.AfterFunc(h.env.TTL/3, h.tick)
	}
}

// Context is all that the holder is told: it ends with the release, whatever has become of the lease.
func (h *watchedHold) Context() context.Context { return h.held }

func (h *watchedHold) tick() {
	h.Extend(h.held) // should it fail, the next tick tries again
	h.watch()
}

func (h *watchedHold) Release(ctx context.Context) error {
	h.mu.Lock()
	h.end()
	h.stop()
	h.mu.Unlock()
	return h.Hold.Release(ctx)
}
