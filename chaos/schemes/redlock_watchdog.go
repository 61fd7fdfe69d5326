package schemes

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// redlockWatchdog is this project's client with auto-extension: the lease is extended every third of it, and when that
// fails until the old lease ends, the lock's context ends with it. So a holder that is cut off is told before anybody
// else can have the lock; one that stands still is told when it wakes, which is too late for the write that comes first.
var redlockWatchdog = chaos.Scheme{
	Name:    "redlock-watchdog",
	About:   "redlock, and extended every TTL/3 while it is held; the holder's context ends when that fails",
	Masters: 5,
	Open: func(env chaos.Env) (chaos.Locker, error) {
		return openRedlock(env, redlock.WithAutoExtend(max(time.Minute, 100*env.TTL)))
	},
}
