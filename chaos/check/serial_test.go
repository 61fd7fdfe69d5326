package check

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/b6e7cabe/quorumlock/chaos"
)

func TestSerial(t *testing.T) {
	read := func(client string, value int) chaos.Event {
		return chaos.Event{Actor: client, Kind: chaos.Read, Value: value}
	}
	wrote := func(client string, value int) chaos.Event {
		return chaos.Event{Actor: client, Kind: chaos.Wrote, Value: value}
	}
	refused := func(client string) chaos.Event { return chaos.Event{Actor: client, Kind: chaos.Refused} }
	for _, test := range []struct {
		name    string
		history chaos.History
		want    bool
	}{
		{"nothing happened", nil, true},
		{"one after the other", chaos.History{read("1", 0), wrote("1", 1), read("2", 1), wrote("2", 2)}, true},
		{"both read before either wrote", chaos.History{read("1", 0), read("2", 0), wrote("2", 1), wrote("1", 1)}, false},
		{"the second was refused", chaos.History{read("1", 0), read("2", 0), wrote("2", 1), refused("1")}, true},
		{"a read of what was never there", chaos.History{read("1", 7)}, false},
		{"a read of what is there no more", chaos.History{read("1", 0), wrote("1", 1), read("2", 0)}, false},
		{"two writes of one stay", chaos.History{read("1", 0), wrote("1", 1), wrote("1", 2), read("2", 2)}, true},
	} {
		if got := Serial(test.history, 0); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

// On a resource whose versions are right, both accounts of the damage agree.
func TestSectionsAreSerialExactlyWhenNoUpdateIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, initial := someHistory(t)
		v := Judge(h, Terms{Guard: chaos.GuardNone, Reached: true})
		if serial := Serial(h, initial); serial != (v.LostUpdates == 0) {
			t.Fatalf("%d lost updates, serial %t: %v", v.LostUpdates, serial, h)
		}
	})
}
