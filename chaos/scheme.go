package chaos

import (
	"context"
	"io"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A Scheme is a lock implementation under test.
type Scheme struct {
	Name    string
	About   string // one line: how it locks, and by whose rules
	Masters int    // how many masters it uses: the first so many of those that there are
	Open    func(Env) (Locker, error)

	// Validity is for how long, of a lease of that TTL, its holder may rely on what a majority has granted, counted from
	// before it asked; nil if the scheme makes no such promise.
	Validity func(ttl time.Duration) time.Duration
}

// Env is what a scheme's client may use of the world. It must use nothing else, least of all package time.
type Env struct {
	Masters redlock.Masters // for schemes that speak this project's commands
	Plain   Plain           // for those that speak Redis'
	Clock   clock.Clock
	Random  io.Reader
	TTL     time.Duration // the lease that every scheme of a run uses
}

// Plain carries one Redis command to one master and waits for the answer, as a client library does: it gives up when ctx
// ends or after the library's own time-out. An answer that is nil has ok false; a number comes as decimal text, a status
// as its word. Of Redis' commands there are GET, SET (with NX, PX), SETNX, DEL, INCR, PEXPIRE.
type Plain interface {
	Do(ctx context.Context, master int, command ...string) (text string, ok bool, err error)
}

// A Locker is one client of a scheme.
type Locker interface {
	// Acquire makes one attempt. An error that matches redlock.ErrHeld says that another client has the lock.
	Acquire(ctx context.Context, name string) (Hold, error)
}

// A Hold is a lock that was granted, as its client sees it.
type Hold interface {
	Token() redlock.Token // 0 if the scheme has no fencing tokens
	Remaining() time.Duration
	Extend(ctx context.Context) error
	Release(ctx context.Context) error
}
