package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/clock"
)

// A Token is a fencing token: of two grants of one lock, the later has the larger one. Send it with each operation on
// the protected resource, which refuses a token below the largest it has seen (Kleppmann, "Making the lock safe with
// fencing"). Zero is never granted.
type Token uint64

// A Client acquires locks on a quorum of masters. It is safe for concurrent use, and one per process is enough.
type Client struct {
	masters  Masters
	settings settings
	seen     atomic.Uint64           // the largest counter met: a hint for proposals
	owned    []redis.UniversalClient // by Connect

	life      context.Context // ends with Close
	end       context.CancelFunc
	mu        sync.Mutex
	running   int             // processes of detach
	following int             // of them, those that follow up on stragglers
	idle      context.Context // ends when nothing runs any more; made by Close
	isIdle    context.CancelFunc
}

// New returns a client for the given masters, which must be independent of each other (no replicas of one another),
// and the same list, in any order, for every client of a lock. It sends nothing; see [Client.Check]. The go-redis
// clients stay the caller's to close. It fails with ErrInvalid.
func New(masters []redis.UniversalClient, opts ...Option) (*Client, error) {
	m, err := RedisMasters(masters)
	if err != nil {
		return nil, err
	}
	return NewOver(m, opts...)
}

// NewOver returns a client over any [Masters]: a simulation's, a test's. It fails with ErrInvalid.
func NewOver(masters Masters, opts ...Option) (*Client, error) {
	if isNil(masters) {
		return nil, invalid("the masters are nil")
	}
	if masters.Len() == 0 {
		return nil, invalid("no masters")
	}
	s, err := defaults().apply(opts, true, masters.Len())
	if err != nil {
		return nil, err
	}
	c := &Client{masters: masters, settings: s}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Acquire waits for the lock: it makes one attempt after the other, with a random back-off, until one is granted or
// ctx ends. Then its error matches ctx's and that of the last attempt: ErrHeld, ErrNoQuorum or ErrExpired. Without
// an end to ctx it may wait for ever. ErrInvalid is returned before any command is sent.
func (c *Client) Acquire(ctx context.Context, name string, opts ...Option) (*Lock, error) {
	return c.acquire(ctx, name, opts, howto{})
}

// TryAcquire makes one attempt. Its error matches ErrHeld, ErrNoQuorum or ErrExpired (the grants came too late to be
// worth anything), or ctx's if that ended first; use errors.As with *[QuorumError] for each master's reason.
func (c *Client) TryAcquire(ctx context.Context, name string, opts ...Option) (*Lock, error) {
	return c.acquire(ctx, name, opts, howto{once: true})
}

// Do runs f under the lock and releases it when f returns or panics. It waits as Acquire does; the context that f gets
// is the lock's, so it ends with the lease or with ctx. The error is f's, joined with ErrExpired or ErrLost if the lock
// was lost before f returned: then f's work was not protected to its end. A release that fails for want of a quorum
// is not an error of Do, since f's work is done: the keys are deleted as soon as their masters answer, or expire.
func (c *Client) Do(ctx context.Context, name string, f func(ctx context.Context, l *Lock) error, opts ...Option) error {
	if f == nil {
		return invalid("the function to run under %q is nil", name)
	}
	l, err := c.acquire(ctx, name, opts, howto{bound: true})
	if err != nil {
		return err
	}
	defer l.Release(context.WithoutCancel(ctx))
	err = f(l.Context(), l)
	if lost := l.Err(); lost != nil && !errors.Is(lost, ErrReleased) {
		return errors.Join(err, lost)
	}
	return err
}

// Check asks every master whether it is fit for use; see [Health]. The error, if any, matches ErrInvalid (the same
// server twice, a replica, a server too old, a script that cannot be run) or ErrNoQuorum (too few can be reached). It
// changes nothing on the masters.
func (c *Client) Check(ctx context.Context) (Health, error) {
	t, ok := c.masters.(*transport)
	if !ok {
		return Health{}, invalid("these masters are not Redis servers")
	}
	return check(ctx, t, c.settings)
}

// Close ends the client: it refuses further acquisitions, stops extending the locks that are still held, so that they
// run out, and waits, at most for a few node timeouts, until what is going on in the background is over. Release your
// locks first. It closes the go-redis clients that Connect made.
func (c *Client) Close() error {
	c.end()
	if idle, wait := c.whenIdle(); wait {
		c.settings.clock.Sleep(idle, 3*c.settings.timeout())
	}
	return closeAll(c.owned)
}

func (c *Client) whenIdle() (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == 0 {
		return nil, false
	}
	if c.idle == nil {
		c.idle, c.isIdle = context.WithCancel(context.Background())
	}
	return c.idle, true
}

// detach runs f as a process of its own, which Close knows of, and waits until f has settled what the caller wants to
// know or has returned, or until ctx has ended; it reports whether f settled.
func (c *Client) detach(ctx context.Context, f func(settle func())) (settled bool) {
	var done atomic.Bool
	waiting, wake := context.WithCancel(ctx)
	settle := func() { done.Store(true); wake() }

	c.mu.Lock()
	c.running++
	c.mu.Unlock()
	c.settings.clock.AfterFunc(0, func() {
		defer c.ended()
		defer settle()
		f(settle)
	})
	c.settings.clock.Sleep(waiting, clock.Forever)
	return done.Load()
}

func (c *Client) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 && c.idle != nil {
		c.isIdle()
	}
}

// settingsFor returns the settings of one acquisition, or why there can be none.
func (c *Client) settingsFor(ctx context.Context, name string, opts []Option) (settings, error) {
	if ctx == nil {
		return settings{}, invalid("the context is nil")
	}
	if err := checkName(name); err != nil {
		return settings{}, err
	}
	if c.life.Err() != nil {
		return settings{}, errClosed
	}
	return c.settings.apply(opts, false, c.masters.Len())
}

// contextError is the error of a wait that ended with its context.
func contextError(ctx context.Context, op, name string) error {
	err := fmt.Errorf("redlock: %s %q: %w", op, name, ctx.Err())
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// wrapLast adds to an error what the last attempt before it failed for.
func wrapLast(err, last error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w; last attempt: %w", err, last)
}

// see remembers a counter, so that the next proposal exceeds it.
func (c *Client) see(counter Token) {
	for {
		seen := c.seen.Load()
		if uint64(counter) <= seen || c.seen.CompareAndSwap(seen, uint64(counter)) {
			return
		}
	}
}

// proposal is the wall clock in microseconds, or one more than the largest counter met.
func (c *Client) proposal(now clock.Reading) Token {
	return max(Token(max(now.Wall.UnixMicro(), 0)), Token(c.seen.Load())+1)
}

func (c *Client) since(start clock.Reading) time.Duration {
	return c.settings.clock.Now().Since(start)
}
