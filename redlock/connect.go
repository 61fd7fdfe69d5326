package redlock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Connect returns a client for the masters at the given URLs (redis://, rediss:// or unix://, with user, password and
// database as go-redis reads them), over connections made for locking: one attempt to dial, no repetition of commands,
// deadlines kept. It asks [Client.Check] first and fails as that does, or with ErrInvalid; a minority of masters that
// cannot be reached is no error. No error contains a URL, since it may hold a password. [Client.Close] closes the
// connections.
func Connect(ctx context.Context, urls []string, opts ...Option) (*Client, error) {
	if ctx == nil {
		return nil, invalid("the context is nil")
	}
	var masters []redis.UniversalClient
	for i, url := range urls {
		o, err := redis.ParseURL(url)
		if err != nil {
			closeAll(masters)
			return nil, invalid("address %d of %d is not a redis://, rediss:// or unix:// URL "+
				"(special characters in a password must be percent-encoded)", i+1, len(urls))
		}
		masters = append(masters, redis.NewClient(forLocking(o)))
	}
	c, err := New(masters, opts...)
	if err != nil {
		closeAll(masters)
		return nil, err
	}
	c.owned = masters
	if _, err := c.Check(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// forLocking sets what go-redis leaves at values that suit a cache better than a lock. Query parameters of the URL still
// decide on the time to dial and the size of the pool.
func forLocking(o *redis.Options) *redis.Options {
	o.MaxRetries = -1 // a repeated command reports on its first run's effect as if it were somebody else's
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.DisableIdentity = true // saves a round trip at each connect
	if o.DialTimeout == 0 {
		o.DialTimeout = time.Second
	}
	if o.PoolSize == 0 {
		o.PoolSize = 4 // one pipeline at a time, and Check beside it
	}
	return o
}

func closeAll(clients []redis.UniversalClient) error {
	var err error
	for _, c := range clients {
		if e := c.Close(); e != nil && !errors.Is(e, redis.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
