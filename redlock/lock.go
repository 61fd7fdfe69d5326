package redlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
)

// A Lock is a lock that was granted. It is safe for concurrent use.
//
// A lease can end while its holder sleeps, is stopped, or waits for a disk: neither [Lock.Err] nor [Lock.Context], looked
// at before a write, can promise that the lease still stands when the write arrives. What does is the token, checked
// by the resource.
type Lock struct {
	hold     *hold
	ctx      context.Context
	cancel   context.CancelCauseFunc // nil for the first handle, whose context is the hold's
	released bool                    // this handle; guarded by hold.mu
}

// Name returns the lock's name.
func (l *Lock) Name() string { return l.hold.cmd.Name }

// Token returns the fencing token of this grant. Extending does not change it.
func (l *Lock) Token() Token { return l.hold.cmd.Token }

// Until returns when the lease ends, as the wall clock would read if nobody steps it.
func (l *Lock) Until() time.Time {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	return l.hold.from.Wall.Add(l.hold.lease)
}

// Remaining returns for how long the lease may still be relied on; zero if it has ended, was lost or was released.
func (l *Lock) Remaining() time.Duration {
	if l.Err() != nil {
		return 0
	}
	return max(l.hold.remaining(), 0)
}

// Context returns a context that ends when the lock can no longer be relied on; context.Cause then is an error that
// matches ErrExpired, ErrLost or ErrReleased. It carries the values of the context that the lock was acquired under, and
// the lock itself for [WithReentrant].
func (l *Lock) Context() context.Context { return l.ctx }

// Err returns nil while the lock may be relied on, else why not: ErrExpired, ErrLost or ErrReleased. Once it is not
// nil it never is again.
func (l *Lock) Err() error {
	l.hold.mu.Lock()
	released := l.released
	l.hold.mu.Unlock()
	if released {
		return l.hold.failure(ErrReleased)
	}
	return l.hold.err()
}

// A hold is what one grant amounts to, shared by the handles that reentrancy gives out.
type hold struct {
	client   *Client
	settings settings
	cmd      Command       // as it was acquired, with the token
	acquired clock.Reading // when the winning round began
	ctx      context.Context
	cancel   context.CancelCauseFunc
	turn     turn // one extension or release at a time

	mu       sync.Mutex
	from     clock.Reading // when the round began that the lease stands on
	sent     clock.Reading // when masters were last asked to keep the key
	lease    time.Duration // how long from there it may be relied on
	ended    error
	handles  int
	attempts int  // at releasing
	released bool // the release's outcome is known
	expiry   func() bool
	watchdog func() bool
	stop     context.CancelFunc // ends the extension that is under way
	decided  bool               // and only its stragglers are awaited
}

// holdKey is where a lock's context carries its hold.
type holdKey struct {
	client *Client
	name   string
}

func newLock(c *Client, parent context.Context, cmd Command, start clock.Reading, s settings) *Lock {
	h := &hold{
		client: c, settings: s, cmd: cmd, acquired: start,
		from: start, sent: start, lease: s.lease(), handles: 1,
	}
	h.ctx, h.cancel = context.WithCancelCause(context.WithValue(parent, holdKey{c, cmd.Name}, h))
	return &Lock{hold: h, ctx: h.ctx}
}

// reenter returns a further handle of the lock that parent carries, nil if it carries none. Its context is made from
// parent, and ends with the hold too.
func (c *Client) reenter(parent context.Context, name string) (*Lock, error) {
	h, ok := parent.Value(holdKey{c, name}).(*hold)
	if !ok {
		return nil, nil
	}
	if err := h.err(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended != nil {
		return nil, h.ended
	}
	h.handles++
	ctx, cancel := context.WithCancelCause(parent)
	context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })
	return &Lock{hold: h, ctx: ctx, cancel: cancel}, nil
}

// arm starts the timers of a fresh lock; it reports whether there is any validity left to wait for.
func (h *hold) arm() bool {
	remaining := h.remaining()
	if remaining <= 0 {
		h.cancel(ErrExpired)
		return false
	}
	if f := h.settings.trace.Granted; f != nil {
		f(h.cmd.Name, h.cmd.Token, h.client.since(h.acquired))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expiry = h.settings.clock.AfterFunc(remaining, h.expire)
	if h.settings.autoExtend {
		h.watchdog = h.settings.clock.AfterFunc(h.settings.ttl/3, h.watch)
	}
	return true
}

// expire ends the lock, unless an extension has moved its end.
func (h *hold) expire() {
	remaining := h.remaining()
	if remaining <= 0 {
		h.end(ErrExpired)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended == nil {
		h.expiry = h.settings.clock.AfterFunc(remaining, h.expire)
	}
}

// remaining may be negative.
func (h *hold) remaining() time.Duration {
	now := h.settings.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease - now.Since(h.from)
}

// err returns why the lock has ended; it notices an end that no timer has told of yet.
func (h *hold) err() error {
	if h.remaining() <= 0 {
		h.end(ErrExpired)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// end ends the lock for one reason; the first one stands.
func (h *hold) end(kind error) {
	h.mu.Lock()
	if h.ended != nil {
		h.mu.Unlock()
		return
	}
	h.ended = h.failure(kind)
	if h.expiry != nil {
		h.expiry()
	}
	if h.watchdog != nil {
		h.watchdog()
	}
	h.mu.Unlock()

	h.cancel(h.ended)
	if f := h.settings.trace.Lost; f != nil && kind != ErrReleased {
		f(h.cmd.Name, kind)
	}
}

func (h *hold) failure(kind error) error {
	return fmt.Errorf("redlock: lock %q: %w", h.cmd.Name, kind)
}
