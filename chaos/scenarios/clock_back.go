package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var clockBack = chaos.Scenario{
	Name:   "clock-back",
	Source: `Redis documentation, "Distributed locks with Redis", "Safety arguments": clocks`,
	About:  "the clock of a majority steps back while 1 holds, and 1 dies: the lock stays for longer than the lease, and is free after",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.Everywhere(chaos.Holds),
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.Write()
		for _, master := range s.Majority() {
			s.StepClock(master, -5*s.TTL)
		}
		one.Die()
		one.LeaseRunsOut()
		two.BeDenied()
		two.AcquireOrGiveUp()
		two.Read()
		two.Write()
		two.Leave()
	},
}
