package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var gcPause = chaos.Scenario{
	Name:   "gc-pause",
	Source: `Kleppmann, "How to do distributed locking", "Protecting a resource with a lock"`,
	About:  "1 is stopped between its last look at the lease and its write; the lease ends; 2 works; 1 wakes and writes",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := stoppedBeforeItsWrite(s)
		two.Write()
		two.Leave()
		one.Continue()
		one.Write()
		one.Leave()
	},
}

// stoppedBeforeItsWrite is how it begins: 1 has read, and is stopped before it writes; 2 is in by then.
func stoppedBeforeItsWrite(s *chaos.Stage) (one, two *chaos.Actor) {
	one, two = s.Client(1), s.Client(2)
	one.Acquire()
	one.Read()
	one.Stop()
	one.LeaseRunsOut()
	two.Acquire()
	two.Read()
	return one, two
}
