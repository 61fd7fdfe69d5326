package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var pauseInAcquire = chaos.Scenario{
	Name:   "pause-in-acquire",
	Source: `Kleppmann, "Breaking Redlock with bad timings", 2nd example; antirez, "Is Redlock safe?"`,
	About:  "1 asks; the grants wait unread while 1 is stopped; the leases end; 2 works; 1 wakes and reads its grants",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.Everywhere(chaos.Holds), // it looks at the clock after it has the majority
		// It does not, and has no token either.
		"redlock-naive": chaos.TokensFail(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.StopInAcquire(chaos.FirstAnswer)
		s.Wait(s.TTL + s.TTL/2)
		s.Say("the leases granted to 1 have ended before it has read the grants")
		two.Acquire()
		two.Read()
		one.Continue()
		one.Read()
		two.Write()
		two.Leave()
		one.Write()
		one.Leave()
	},
}
