package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var majorityDown = chaos.Scenario{
	Name:   "majority-down",
	Source: `Redis documentation, "Distributed locks with Redis", "Liveness arguments"`,
	About:  "three of five masters are killed: a client hears soon that there is no quorum, and has the lock when they are back",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock-naive": chaos.Everywhere(chaos.Holds),
		"redlock":       chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		s.Kill(s.Majority()...)
		one.MissQuorum()
		two.MissQuorum()
		s.Start(s.Majority()...)
		inTurn(one, two)
	},
}
