package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var slowClock = chaos.Scenario{
	Name:   "slow-clock",
	Source: `Redis documentation, "Distributed locks with Redis", "Safety arguments": the drift`,
	About:  "the clock of 1 is slow by 20 %: when the masters let 2 in, 1 still believes",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		slowHolder(s, 0.8)
	},
}

// slowHolder has 2 come in as soon as it can, while 1 goes by a slow clock.
func slowHolder(s *chaos.Stage, rate float64) {
	one, two := s.Client(1), s.Client(2)
	one.SlowClock(rate)
	one.Acquire()
	one.Read()
	two.Acquire()
	two.Read()
	two.Write()
	one.LeaveWhenLost(0)
	one.WriteIfHeld()
	two.Leave()
	one.Leave()
}
