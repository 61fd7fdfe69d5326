package check

import (
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// at makes an event, in seconds.
func at(second int, client string, kind chaos.Kind, token redlock.Token) chaos.Event {
	return chaos.Event{At: time.Duration(second) * time.Second, Actor: client, Kind: kind, Token: token}
}

func TestTokensAreUniqueAndOrdered(t *testing.T) {
	for _, test := range []struct {
		name    string
		history chaos.History
		want    int
	}{
		{"one after the other", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Acquired, 3), at(2, "2", chaos.Asked, 0), at(3, "2", chaos.Acquired, 4)}, 0},
		{"equal, though they overlapped", chaos.History{
			at(0, "1", chaos.Asked, 0), at(0, "2", chaos.Asked, 0), at(1, "1", chaos.Acquired, 3), at(2, "2", chaos.Acquired, 3)}, 1},
		{"smaller than one granted before it was asked for", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Acquired, 3), at(2, "2", chaos.Asked, 0), at(3, "2", chaos.Acquired, 2)}, 1},
		{"smaller than one that it overlapped", chaos.History{
			at(0, "1", chaos.Asked, 0), at(0, "2", chaos.Asked, 0), at(1, "1", chaos.Acquired, 3), at(2, "2", chaos.Acquired, 2)}, 0},
		{"a scheme without tokens", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Acquired, 0), at(2, "2", chaos.Asked, 0), at(3, "2", chaos.Acquired, 0)}, 0},
	} {
		v := Judge(test.history, Terms{Guard: chaos.GuardCAS, Reached: true})
		if v.TokenFaults != test.want || v.Outcome != chaos.Holds {
			t.Errorf("%s: %d faults, %s, want %d and %s", test.name, v.TokenFaults, v.Outcome, test.want, chaos.Holds)
		}
	}
}

func TestARefusalIsWrongUnlessALargerTokenWasAccepted(t *testing.T) {
	for _, test := range []struct {
		name    string
		history chaos.History
		want    int
	}{
		{"superseded by a write", chaos.History{at(0, "2", chaos.Wrote, 2), at(1, "1", chaos.Refused, 1)}, 0},
		{"superseded by a read", chaos.History{at(0, "2", chaos.Read, 2), at(1, "1", chaos.Refused, 1)}, 0},
		{"its own token", chaos.History{at(0, "1", chaos.Read, 1), at(1, "1", chaos.Refused, 1)}, 1},
		{"the first of all", chaos.History{at(1, "1", chaos.Refused, 1)}, 1},
		{"a larger one was refused too", chaos.History{at(0, "2", chaos.Refused, 2), at(1, "1", chaos.Refused, 1)}, 2},
	} {
		if got := WrongRefusals(test.history); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestIdleIsWantedAndFree(t *testing.T) {
	for _, test := range []struct {
		name    string
		history chaos.History
		want    time.Duration
	}{
		{"nobody is kept waiting while another is inside", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Acquired, 0), at(2, "2", chaos.Asked, 0), at(9, "1", chaos.Left, 0), at(10, "2", chaos.Acquired, 0)}, time.Second},
		{"nobody wants it", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Acquired, 0), at(2, "1", chaos.Left, 0), at(9, "2", chaos.Asked, 0), at(9, "2", chaos.Acquired, 0)}, time.Second},
		{"nobody gets it", chaos.History{
			at(0, "1", chaos.Asked, 0), at(5, "2", chaos.Asked, 0), at(9, "2", chaos.GaveUp, 0)}, 9 * time.Second},
		{"two inside, and one of them leaves", chaos.History{
			at(0, "1", chaos.Acquired, 0), at(0, "2", chaos.Acquired, 0), at(1, "3", chaos.Asked, 0), at(2, "1", chaos.Left, 0), at(8, "2", chaos.Left, 0), at(9, "3", chaos.Acquired, 0)}, time.Second},
		{"an attempt that was denied does not wait on", chaos.History{
			at(0, "1", chaos.Asked, 0), at(1, "1", chaos.Denied, 0), at(8, "2", chaos.Asked, 0), at(9, "2", chaos.Acquired, 0)}, time.Second},
	} {
		if got := Idle(test.history); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
