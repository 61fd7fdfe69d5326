package schemes

import (
	"context"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// none is no lock at all: what a resource comes to whose clients do not bother. Whatever a guard saves of it, it would
// save without any lock.
var none = chaos.Scheme{
	Name:    "none",
	About:   "no lock at all: everybody comes in at once",
	Masters: 1,
	Open:    func(chaos.Env) (chaos.Locker, error) { return open{}, nil },
}

// open is a door that nobody has to open.
type open struct{}

func (open) Acquire(context.Context, string) (chaos.Hold, error) { return open{}, nil }

func (open) Token() redlock.Token          { return 0 }
func (open) Remaining() time.Duration      { return forever }
func (open) Extend(context.Context) error  { return nil }
func (open) Release(context.Context) error { return nil }
