// Package schemes has the lock implementations that the harness compares, each in a file of its own: the ladder that
// the literature climbs, every rung with the mistake that the next one mends. They talk to the world only through
// chaos.Env, so that the same code runs on real servers and in a simulation.
//
// A new scheme is one new file and one line in All.
package schemes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// All returns every scheme, the crudest first.
func All() []chaos.Scheme {
	return []chaos.Scheme{
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
	}
}

// ByName returns one scheme.
func ByName(name string) (chaos.Scheme, error) {
	all := All()
	if i := slices.IndexFunc(all, func(s chaos.Scheme) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return chaos.Scheme{}, fmt.Errorf("no scheme %q: there are %s", name, strings.Join(names, ", "))
}
