package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var commitBeforeRelease = chaos.Scenario{
	Name:   "commit-before-release",
	Source: "ours: the right order beside commit-after-release",
	About:  "1 releases the lock when its write is committed: 2 waits, and reads it",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.Everywhere(chaos.Holds),
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.SendWrite()
		two.BeDenied()
		one.Check()
		one.LetWriteArrive()
		one.Leave()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
	},
}
