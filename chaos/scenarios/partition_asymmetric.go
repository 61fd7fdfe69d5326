package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var partitionAsymmetric = chaos.Scenario{
	Name:   "partition-asymmetric",
	Source: "Jepsen: partitions that two sides see differently",
	About:  "1 reaches A-C only, 2 reaches C-E only: one of them has the lock, and the other when the partition has healed",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		s.Split(one, two)
		one.Acquire()
		one.Read()
		two.BeDenied()
		one.Reach("D", "E")
		two.BeDenied()
		one.Check()
		one.Write()
		one.Leave()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
	},
}
