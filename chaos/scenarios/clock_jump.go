package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var clockJump = chaos.Scenario{
	Name:   "clock-jump",
	Source: `Kleppmann, "Breaking Redlock with bad timings", 1st example`,
	About:  "1 gets a majority; the clock of a master in it jumps past the lease; 2 gets a majority through that master",
	TTL:    lease * 10, // the lease itself must not end meanwhile
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		shared := s.Split(one, two)
		one.Acquire()
		one.Read()
		s.StepClock(shared, 2*s.TTL)
		bothInside(one, two)
	},
}

// bothInside is what follows once a master in the lock's majority has let go of it: 2 comes in and writes over what 1
// has read, and 1 writes over that.
func bothInside(one, two *chaos.Actor) {
	two.Acquire()
	two.Read()
	one.Check()
	two.Write()
	two.Leave()
	one.Write()
	one.Leave()
}
