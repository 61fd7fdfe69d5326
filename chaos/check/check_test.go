package check

import (
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
)

func TestJudge(t *testing.T) {
	in := func(client string) chaos.Event { return chaos.Event{Actor: client, Kind: chaos.Acquired} }
	out := func(client string) chaos.Event { return chaos.Event{Actor: client, Kind: chaos.Left} }
	refused := chaos.Event{Actor: "1", Kind: chaos.Refused}
	fine := chaos.Event{Actor: "1", Kind: chaos.Wrote, Value: 1}
	lost := chaos.Event{Actor: "1", Kind: chaos.Wrote, Lost: true}
	lostAndStale := chaos.Event{Actor: "1", Kind: chaos.Wrote, Lost: true, Stale: true}

	for _, test := range []struct {
		name    string
		history chaos.History
		guard   chaos.Guard
		want    Verdict
	}{
		{"one after the other", chaos.History{in("1"), fine, out("1"), in("2"), out("2")}, chaos.GuardNone,
			Verdict{Outcome: chaos.Holds}},
		{"two at once break a lock that stands alone", chaos.History{in("1"), in("2"), out("2"), out("1")}, chaos.GuardNone,
			Verdict{Overlaps: 1, Outcome: chaos.Breaks}},
		{"two at once are harmless where the guard refuses one", chaos.History{in("1"), in("2"), refused, out("2"), out("1")}, chaos.GuardAll,
			Verdict{Overlaps: 1, Refusals: 1, Outcome: chaos.Holds}},
		{"a client that never leaves is inside for ever", chaos.History{in("1"), in("2"), out("2"), in("3")}, chaos.GuardNone,
			Verdict{Overlaps: 2, Outcome: chaos.Breaks}},
		{"who comes in again has left before", chaos.History{in("1"), in("1"), in("2")}, chaos.GuardNone,
			Verdict{Overlaps: 1, Outcome: chaos.Breaks}},
		{"a value written twice breaks any guard", chaos.History{in("1"), fine, fine, out("1")}, chaos.GuardCAS,
			Verdict{Repeated: 1, Outcome: chaos.Breaks}},
		{"the dead do no harm", chaos.History{in("1"), {Actor: "1", Kind: chaos.Died}, in("2")}, chaos.GuardNone,
			Verdict{Outcome: chaos.Holds}},
		{"a lost update breaks any guard", chaos.History{in("1"), lost, out("1")}, chaos.GuardAll,
			Verdict{LostUpdates: 1, Corruptions: 1, Outcome: chaos.Breaks}},
		{"a key that nobody has keeps the lock from others", chaos.History{in("1"), out("1"), {Actor: "D", Kind: chaos.Orphan}}, chaos.GuardAll,
			Verdict{Orphans: 1, Outcome: chaos.Breaks}},
		{"marks know no order", chaos.History{in("1"), {Actor: "1", Kind: chaos.Wrote, Stale: true}, out("1")}, chaos.GuardMark,
			Verdict{StaleWrites: 1, Outcome: chaos.Holds}},
		{"one write does damage once", chaos.History{in("1"), lostAndStale, out("1")}, chaos.GuardWrites,
			Verdict{LostUpdates: 1, StaleWrites: 1, Corruptions: 1, Outcome: chaos.Breaks}},
	} {
		if got := Judge(test.history, Terms{Guard: test.guard, Reached: true}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		if got := Judge(test.history, Terms{Guard: test.guard}).Outcome; got != chaos.Unreached {
			t.Errorf("%s, not reached: %s", test.name, got)
		}
	}
}
