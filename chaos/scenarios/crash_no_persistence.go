package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var crashNoPersistence = chaos.Scenario{
	Name: "crash-no-persistence",
	Source: `Kleppmann, "Breaking Redlock with bad timings", 1st example, variant; ` +
		`Redis documentation, "Distributed locks with Redis", "Performance, crash recovery and fsync"`,
	About: "as clock-jump, but the master is killed and comes back empty",
	TTL:   lease * 10,
	Expect: map[string]chaos.Expectation{
		// The counter is gone too: the token repeats, and no guard can tell the two holders apart.
		"single": chaos.TokensFail(),
		// The other masters of the second majority have counters of their own, and the proposal is later.
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		shared := s.Split(one, two)
		one.Acquire()
		one.Read()
		s.Restart(shared)
		bothInside(one, two)
	},
}
