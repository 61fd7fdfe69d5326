package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var setnxCrash = chaos.Scenario{
	Name:   "setnx-crash",
	Source: `Redis documentation, "Distributed locks with Redis", "Safety and liveness guarantees": deadlock free`,
	About:  "the holder dies, with setnx-expire before it has set the expiry: is the lock free when a lease has passed?",
	TTL:    lease / 4,
	Expect: map[string]chaos.Expectation{
		"setnx":        chaos.ForEver(),
		"setnx-expire": chaos.ForEver(),
		"single":       chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		if s.Scheme == "setnx-expire" {
			one.StopInAcquire(chaos.BeforeExpire)
		} else {
			one.Acquire()
		}
		one.Die()
		s.Wait(s.TTL)
		two.AcquireOrGiveUp()
		two.Read()
		two.Write()
		two.Leave()
	},
}
