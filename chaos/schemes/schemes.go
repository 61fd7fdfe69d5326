// Package schemes has the lock implementations that the harness compares, each in a file of its own: the ladder that
// the literature climbs, every rung with the mistake that the next one mends. They talk to the world only through
// chaos.Env, so that the same code runs on real servers and in a simulation.
//
// A new scheme is one new file and one line in All.
package schemes

import "github.com/b6e7cabe/quorumlock/chaos"

// All returns every scheme, the crudest first.
func All() []chaos.Scheme {
	return []chaos.Scheme{
		none,
		localMutex,
		setnx,
		setnxExpire,
		blindDel,
		getThenDel,
		single,
		singleWatchdog,
		singleFailover,
		redlockNaive,
		redlockHere,
		redlockWatchdog,
	}
}

// ByName returns one scheme.
func ByName(name string) (chaos.Scheme, error) {
	return chaos.ByName("scheme", All(), name, func(s chaos.Scheme) string { return s.Name })
}
