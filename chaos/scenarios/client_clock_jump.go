package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var clientClockJump = chaos.Scenario{
	Name:   "client-clock-jump",
	Source: `antirez, "Is Redlock safe?"; Kleppmann, "How to do distributed locking", "Using time to solve consensus"`,
	About:  "the wall clock of 1 is set back by more than the lease while it holds; the lease ends; 2 works; 1 looks at its clock, and writes",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		// It reads from the wall clock what is left.
		"redlock-naive": chaos.TokensFail(),
		// It takes the larger of two clocks, one of which nobody sets.
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.ShiftClock(-10 * s.TTL)
		one.LeaseRunsOut()
		one.LeaveWhenLost(s.TTL)
		two.Acquire()
		two.Read()
		two.Write()
		one.WriteIfHeld()
		two.Leave()
		one.Leave()
	},
}
