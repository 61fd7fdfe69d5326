package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var commitAfterRelease = chaos.Scenario{
	Name:   "commit-after-release",
	Source: "ours: a lock that is released inside the transaction that it protects",
	About:  "1 releases the lock while its write is not committed yet; 2 reads what was before; both writes are committed",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.OnlyAllHolds(),
		"redlock": chaos.OnlyAllHolds(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.SendWrite()
		one.ReleaseEarly()
		two.Acquire()
		two.Read()
		one.LetWriteArrive()
		one.Leave()
		two.Write()
		two.Leave()
	},
}
