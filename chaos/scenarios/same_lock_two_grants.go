package scenarios

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

var sameLockTwoGrants = chaos.Scenario{
	Name:   "same-lock-two-grants",
	Source: "ours: why a token is confirmed only where the lock is still the holder's own (docs/tokens.md)",
	About:  "1 is stopped before it confirms its token; its keys go early; 2 is granted with that very number; 1 confirms",
	TTL:    lease * 5,
	Expect: map[string]chaos.Expectation{
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one, two, three := s.Client(1), s.Client(2), s.Client(3)

		// C's counter gets ahead of the others': a client with a fast clock reaches C alone.
		three.ShiftClock(time.Minute)
		three.CutOff("A", "B", "D", "E")
		three.TryAcquire()

		// So 1's grants differ, and its token, C's count, needs to be confirmed on A and B.
		one.CutOff("D", "E")
		one.StopInAcquire(chaos.BeforeConfirm)
		token := s.Counter("C")
		for _, master := range []string{"A", "B", "C"} {
			s.StepClock(master, 2*s.TTL)
		}

		// 2's proposal is the number that 1 is about to confirm.
		two.CutOff("C")
		two.PinClock(time.UnixMicro(int64(token)))
		two.Acquire()
		two.Read()
		one.Continue()
		one.Read()
		two.Write()
		one.Write()
		two.Leave()
		one.Leave()
	},
}
