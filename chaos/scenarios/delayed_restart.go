package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var delayedRestart = chaos.Scenario{
	Name:   "delayed-restart",
	Source: `Redis documentation, "Distributed locks with Redis", "Performance, crash recovery and fsync": delayed restarts; antirez, "Is Redlock safe?"`,
	About:  "a master of the lock's majority is killed, and comes back empty when every lease on it has ended",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		// The lock is safe, but the one counter is gone, and with it the order of the tokens.
		"single":  {chaos.GuardNone: chaos.Holds, chaos.GuardWrites: chaos.Breaks, chaos.GuardAll: chaos.Breaks, chaos.GuardCAS: chaos.Holds},
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		shared := s.Split(one, two)
		one.Acquire()
		one.Read()
		s.Kill(shared)
		one.LeaseRunsOut()
		one.LeaveWhenLost(s.TTL)
		s.Wait(s.TTL)
		s.Start(shared)
		two.Acquire()
		two.Read()
		two.Write()
		one.WriteIfHeld()
		two.Leave()
		one.Leave()
	},
}
