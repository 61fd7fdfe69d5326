package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var watchdogPause = chaos.Scenario{
	Name:   "watchdog-pause",
	Source: `Kleppmann, "How to do distributed locking", "Protecting a resource with a lock": the watchdog stands still too`,
	About:  "a holder whose lock is extended every TTL/3 is stopped for longer than the TTL; 2 works; 1 wakes and writes",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single-watchdog":  chaos.GuardsHold(),
		"redlock-watchdog": chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Read()
		s.Wait(s.TTL) // so long it is extended
		one.Check()
		one.Stop()
		two.Acquire()
		two.Read()
		two.Write()
		two.Leave()
		one.Continue()
		one.Write()
		one.LeaveWhenLost(s.TTL / 2) // redlock's is told on waking; for that write it is too late
		one.Leave()
	},
}
