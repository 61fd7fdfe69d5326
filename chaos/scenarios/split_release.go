package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var splitRelease = chaos.Scenario{
	Name:   "split-release",
	Source: `Redis documentation, "Distributed locks with Redis", "Correct implementation with a single instance": why just DEL is not safe`,
	About:  "1 is stopped before it deletes its key; its lease ends, 2 comes in; 1 deletes: does 3 come in beside 2?",
	TTL:    lease * 2,
	Expect: map[string]chaos.Expectation{
		"blind-del":    chaos.TokensFail(),
		"get-then-del": chaos.TokensFail(),
		"single":       chaos.Everywhere(chaos.Holds),
		"redlock":      chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two, three := s.Client(1), s.Client(2), s.Client(3)
		one.Acquire()
		one.Read()
		one.Write()
		one.StopInLeave(chaos.BeforeDelete)
		one.LeaseRunsOut()
		two.Acquire()
		two.Read()
		one.Continue()
		three.TryAcquire()
		three.Read()
		three.Write()
		three.Leave()
		two.Check()
		two.Write()
		two.Leave()
	},
}
