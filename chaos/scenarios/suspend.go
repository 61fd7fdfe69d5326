package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var suspend = chaos.Scenario{
	Name:   "suspend",
	Source: "golang/go #24595: the monotonic clock stands still while the machine is suspended",
	About:  "the machine of 1 sleeps past the lease: on waking 1 is told at once, and leaves before 2 comes",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		one.Suspend(2 * s.TTL)
		one.LeaveWhenLost(s.TTL / 2)
		one.WriteIfHeld()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
		one.Leave()
	},
}
