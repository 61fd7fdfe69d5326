package schemes

import (
	"context"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// none is no lock at all: what the resource suffers by itself. It is the measure for all the others, and for guards that
// need no lock.
var none = chaos.Scheme{
	Name:    "none",
	About:   "no lock: everybody comes in at once",
	Masters: 1,
	Open:    func(chaos.Env) (chaos.Locker, error) { return noLock{}, nil },
}

// noLock is the locker, and what it grants.
type noLock struct{}

func (noLock) Acquire(context.Context, string) (chaos.Hold, error) { return noLock{}, nil }
func (noLock) Token() redlock.Token                                { return 0 }
func (noLock) Remaining() time.Duration                            { return forever }
func (noLock) Extend(context.Context) error                        { return nil }
func (noLock) Release(context.Context) error                       { return nil }
