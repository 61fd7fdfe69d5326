// Package scenarios has the arguments about Redis locks as scripts, each in a file of its own that reads like the text
// it follows.
//
// A new scenario is one new file and one line in All.
package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// All returns every scenario.
func All() []chaos.Scenario {
	return []chaos.Scenario{
		gcPause,
		gcPauseBeforeWriteOf2,
		pauseInAcquire,
		clockJump,
		crashNoPersistence,
		sameLockTwoGrants,
	}
}

// ByName returns one scenario.
func ByName(name string) (chaos.Scenario, error) {
	all := All()
	if i := slices.IndexFunc(all, func(s chaos.Scenario) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return chaos.Scenario{}, fmt.Errorf("no scenario %q: there are %s", name, strings.Join(names, ", "))
}

// lease is short, so that its end is not long in coming.
const lease = 400 * time.Millisecond
