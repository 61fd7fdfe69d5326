package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var failover = chaos.Scenario{
	Name:   "failover",
	Source: `Redis documentation, "Distributed locks with Redis", "Why failover-based implementations are not enough"`,
	About:  "the replica of a master is cut off before the lock is copied, the master dies, the replica takes its place",
	TTL:    lease * 10,
	Expect: map[string]chaos.Expectation{
		// The counter is not copied either: the second holder gets the token of the first.
		"single-failover": chaos.TokensFail(),
		// The loss of one of five is not the loss of the lock.
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		s.Lag("A")
		one.Acquire()
		one.Read()
		s.Failover("A")
		two.TryAcquire()
		two.Read()
		two.Write()
		two.Leave()
		one.Check()
		one.Write()
		one.Leave()
	},
}
