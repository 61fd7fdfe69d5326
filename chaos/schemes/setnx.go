package schemes

import "github.com/b6e7cabe/quorumlock/chaos"

// setnx is the oldest Redis lock: SETNX to acquire, DEL to release, and no expiry. When the holder dies, or the reply to
// its SETNX is lost, nobody ever has the lock again: that breaks the property "Deadlock free" of "Distributed locks with
// Redis" ("Safety and Liveness Guarantees"), and is what the documentation of SETNX means with "Handling deadlocks".
var setnx = chaos.Scheme{
	Name:    "setnx",
	About:   "one master: SETNX, DEL to release, no expiry: for ever locked when the holder dies",
	Masters: 1,
	Open:    oneKey(steps{acquire: (*key).setnx, release: (*key).del}),
}
