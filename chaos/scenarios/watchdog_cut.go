package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var watchdogCut = chaos.Scenario{
	Name:   "watchdog-cut",
	Source: "hashicorp/consul #18271: a holder that is cut off hears of it after others have the lock",
	About:  "a holder whose lock is extended every TTL/3 is cut off: is it told before anybody else has the lock?",
	TTL:    lease * 2,
	Expect: map[string]chaos.Expectation{
		// Its holder never hears that it could not be extended.
		"single-watchdog":  chaos.GuardsHold(),
		"redlock-watchdog": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.CutOff(s.Masters()...)
		two.Acquire()
		two.Read()
		two.Write()
		one.LeaveWhenLost(0) // when that was counts, not when it is asked
		one.Write()
		two.Leave()
		one.Reach(s.Masters()...)
		one.Leave()
	},
}
