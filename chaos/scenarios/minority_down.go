package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var minorityDown = chaos.Scenario{
	Name:   "minority-down",
	Source: `Redis documentation, "Distributed locks with Redis", "Liveness arguments"`,
	About:  "two of five masters are killed: the lock goes on, with them and without",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock-naive": chaos.Everywhere(chaos.Holds),
		"redlock":       chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		s.Kill(s.Minority()...)
		inTurn(one, two)
		s.Start(s.Minority()...)
		inTurn(two, one)
	},
}

// inTurn has both work under the lock; it is taken while the first has it.
func inTurn(one, two *chaos.Actor) {
	one.Acquire()
	one.Read()
	two.BeDenied()
	one.Check()
	one.Write()
	one.Leave()
	two.Acquire()
	two.Read()
	two.Write()
	two.Leave()
}
