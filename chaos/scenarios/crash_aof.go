package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var crashAOF = chaos.Scenario{
	Name:    "crash-aof",
	Source:  `Redis documentation, "Distributed locks with Redis", "Performance, crash recovery and fsync"`,
	About:   "as crash-no-persistence, with appendfsync always: the master comes back with what it had answered",
	TTL:     lease * 10,
	Durable: true,
	Expect: map[string]chaos.Expectation{
		"single":  chaos.Everywhere(chaos.Holds),
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		shared := s.Split(one, two)
		one.Acquire()
		one.Read()
		s.Restart(shared)
		two.TryAcquire()
		two.Read()
		two.Write()
		one.Check()
		one.Write()
		one.Leave()
		two.Leave()
	},
}
