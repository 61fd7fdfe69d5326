// Package scenarios has the arguments about Redis locks as scripts, each in a file of its own that reads like the text
// it follows.
//
// A new scenario is one new file and one line in All.
package scenarios

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// All returns every scenario.
func All() []chaos.Scenario {
	return []chaos.Scenario{
		gcPause,
		gcPauseBeforeWriteOf2,
		checkBeforeWrite,
		pauseInAcquire,
		clockJump,
		crashNoPersistence,
		crashAOF,
		delayedRestart,
		powerLossEverysec,
		delayedWrite,
		clientClockJump,
		slowClock,
		slowClockWithinDrift,
		suspend,
		lostReply,
		ghostLock,
		minorityDown,
		majorityDown,
		partitionAsymmetric,
		failover,
		splitRelease,
		setnxCrash,
		watchdogPause,
		watchdogCut,
		eviction,
		oversell,
		commitAfterRelease,
		commitBeforeRelease,
		casToken,
		clockBack,
		sameLockTwoGrants,
	}
}

// ByName returns one scenario.
func ByName(name string) (chaos.Scenario, error) {
	return chaos.ByName("scenario", All(), name, func(s chaos.Scenario) string { return s.Name })
}

// lease is short, so that its end is not long in coming.
const lease = 400 * time.Millisecond
