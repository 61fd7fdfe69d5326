package schemes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// localMutex is the lock of a program that was one process once: it excludes the threads of a process, and every
// process has its own. Kleppmann begins with the difference ("How to do distributed locking", "Protecting a resource
// with a lock": a distributed lock is not like a mutex in a multi-threaded application). It asks no master.
var localMutex = chaos.Scheme{
	Name:    "local-mutex",
	About:   "a mutex inside each process: no process ever hears of another's",
	Masters: 1,
	Open: func(chaos.Env) (chaos.Locker, error) {
		return new(localClient), nil
	},
}

type localClient struct {
	held sync.Map // from the lock's name to its *localHold
}

func (c *localClient) Acquire(_ context.Context, name string) (chaos.Hold, error) {
	h := &localHold{c, name}
	if _, taken := c.held.LoadOrStore(name, h); taken {
		return nil, fmt.Errorf("acquire %q: %w, in this process", name, redlock.ErrHeld)
	}
	return h, nil
}

type localHold struct {
	client *localClient
	name   string
}

func (h *localHold) Token() redlock.Token { return 0 }

func (h *localHold) Remaining() time.Duration { return forever }

func (h *localHold) Extend(context.Context) error { return nil }

func (h *localHold) Release(context.Context) error {
	if !h.client.held.CompareAndDelete(h.name, h) {
		return fmt.Errorf("release %q: %w", h.name, redlock.ErrReleased)
	}
	return nil
}
