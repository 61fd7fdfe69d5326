package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var ghostLock = chaos.Scenario{
	Name:   "ghost-lock",
	Source: "ours, measured on other lock libraries: an acquire that was given up runs later",
	About:  "1 fails for want of a quorum while D hangs; D goes on, and sets the key of a client that has long gone away",
	TTL:    lease * 2,
	Expect: map[string]chaos.Expectation{
		// It takes back only what it knows to have been granted. (It has no token that a guard could look at.)
		"redlock-naive": chaos.Everywhere(chaos.Breaks),
		"redlock":       chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one := s.Client(1)
		s.Hang("D")
		one.CutOff("A", "B")
		one.MissQuorum()
		s.Resume("D")
		s.Wait(s.TTL / 2) // less than it takes a key to expire
		s.Orphans()
	},
}
