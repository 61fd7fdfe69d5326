package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var powerLossEverysec = chaos.Scenario{
	Name:     "power-loss-everysec",
	Source:   `Redis documentation, "Distributed locks with Redis", "Performance, crash recovery and fsync"`,
	About:    "as crash-no-persistence, with appendfsync everysec: the last second is not on disk when the power fails",
	TTL:      lease * 10,
	Everysec: true,
	Expect: map[string]chaos.Expectation{
		// The counter goes back with the lock.
		"single":  chaos.TokensFail(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		shared := s.Split(one, two)
		one.Acquire()
		one.Read()
		s.PowerLoss(shared)
		bothInside(one, two)
	},
}
