package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var gcPauseBeforeWriteOf2 = chaos.Scenario{
	Name:   "gc-pause-before-write-of-2",
	Source: "ours: what is left when the article's advice is followed for writes alone",
	About:  "as gc-pause, but 1 wakes and writes before the first write of 2: the guard has seen no newer token yet",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.OnlyAllHolds(),
		"redlock": chaos.OnlyAllHolds(),
	},
	Play: func(s *chaos.Stage) {
		one, two := stoppedBeforeItsWrite(s)
		one.Continue()
		one.Write()
		two.Write()
		one.Leave()
		two.Leave()
	},
}
