package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var eviction = chaos.Scenario{
	Name:   "eviction",
	Source: `Redis documentation, "Distributed locks with Redis", "Performance, crash recovery and fsync"; RedLock.net #101`,
	About:  "masters under memory pressure evict the key of a lock that is held: three of five are a majority",
	TTL:    lease * 10,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.GuardsHold(),
		"redlock": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		s.Evict(s.Majority()...)
		bothInside(one, two)
	},
}
