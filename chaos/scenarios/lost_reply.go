package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var lostReply = chaos.Scenario{
	Name:   "lost-reply",
	Source: "go-redis #2985: a request without a reply is sent again",
	About:  "the grant to 1 is lost on its way with the connection, and the client library asks once more",
	TTL:    lease / 2,
	Expect: map[string]chaos.Expectation{
		// It finds its own key, and takes it for another's.
		"setnx": chaos.ForEver(),
		// Asking again for what one has is granted.
		"redlock": chaos.Everywhere(chaos.Holds),
	},
	Play: func(s *chaos.Stage) {
		one := s.Client(1)
		one.CutOff(s.Minority()...) // so that the grant is needed
		one.LoseReply("A")
		one.AcquireOrGiveUp()
		one.ReplyWasLost("A")
		one.Read()
		one.Write()
		one.Leave()
		s.Wait(s.TTL / 4) // less than it takes a key to expire
		s.Orphans()
	},
}
