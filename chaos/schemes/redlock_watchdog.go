package schemes

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// redlockWatchdog is the client of this project with its watchdog ("Distributed locks with Redis", "Making the algorithm
// more reliable: Extending the lock"): it extends the lease every third of it, counts only what a majority has extended, and
// tells the holder, through the lock's context, when that has failed for too long. What no watchdog can do is to tell a
// holder that stands still, as the watchdog does with it.
var redlockWatchdog = chaos.Scheme{
	Name:    "redlock-watchdog",
	About:   "redlock, extended every TTL/3; the holder hears at once when that fails",
	Masters: 5,
	Open: func(env chaos.Env) (chaos.Locker, error) {
		return openRedlock(env, redlock.WithAutoExtend(time.Hour))
	},
	Validity: lessDrift,
}
