package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var slowClockWithinDrift = chaos.Scenario{
	Name:   "slow-clock-within-drift",
	Source: `Redis documentation, "Distributed locks with Redis", "Safety arguments": the drift`,
	About:  "the clock of 1 is slow by 0.5 %, which the allowance of 1 % covers: 1 leaves before the masters let 2 in",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		slowHolder(s, 0.995)
	},
}
