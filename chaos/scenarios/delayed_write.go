package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var delayedWrite = chaos.Scenario{
	Name:   "delayed-write",
	Source: `Kleppmann, "How to do distributed locking", "Protecting a resource with a lock": packets may be delayed by more than a minute`,
	About:  "1 sends its write, which the network holds up; the lease ends; 2 works; the write of 1 arrives",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.SendWrite()
		one.LeaseRunsOut()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
		one.LetWriteArrive()
		one.Leave()
	},
}
