package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var checkBeforeWrite = chaos.Scenario{
	Name:   "check-before-write",
	Source: `Kleppmann, "How to do distributed locking", "Protecting a resource with a lock": checking just before the write is no remedy`,
	About:  "as gc-pause, but 1 checks its lease as late as it can: the pause comes between the check and the write",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.Check()
		one.Stop()
		one.LeaseRunsOut()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
		one.Continue()
		one.Write()
		one.Leave()
	},
}
