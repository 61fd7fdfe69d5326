package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var casToken = chaos.Scenario{
	Name:   "cas-token",
	Source: `antirez, "Is Redlock safe?": a random token, and compare-and-set at the resource`,
	About:  "a token that only says whose turn it is: as steps of their own the check comes too early, as one step the mark too late",
	TTL:    lease,
	Expect: map[string]chaos.Expectation{
		"single":  randomTokens,
		"redlock": randomTokens,
	},
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		if s.Guard == chaos.GuardMark {
			lateMark(one, two)
		} else {
			earlyCheck(one, two)
		}
	},
}

// In one step, no value is made of one that was overwritten. Who is thrown out half done is another matter.
var randomTokens = chaos.Expectation{chaos.GuardNone: chaos.Breaks, chaos.GuardMark: chaos.Holds}

// earlyCheck is marking, reading and checking as steps of their own: what was true when 1 checked is not when it writes.
func earlyCheck(one, two *chaos.Actor) {
	one.Read()
	one.Check()
	one.Stop()
	one.LeaseRunsOut()
	two.Acquire()
	two.Read()
	two.Check()
	two.Write()
	two.Leave()
	one.Continue()
	one.Write()
	one.Leave()
}

// lateMark is the same in one step: the mark of 1 comes when 2, who has the lock, is half done, and evicts it.
func lateMark(one, two *chaos.Actor) {
	one.Stop()
	one.LeaseRunsOut()
	two.Acquire()
	two.Read()
	two.Write()
	one.Continue()
	one.Read()
	two.Write()
	two.Leave()
	one.Write()
	one.Leave()
}
