package chaos

import (
	"slices"
	"testing"
	"time"
)

// A client that is asked later when it lost its lock left when it did, not when it was asked.
func TestWhatIsHeardOfLateStandsWhereItHappened(t *testing.T) {
	now := time.Second
	r := NewRecorder(func() time.Duration { return now }, nil)
	r.Record(Event{Kind: Asked, Actor: "2"})
	now = 3 * time.Second
	r.Record(Event{Kind: Acquired, Actor: "2"})
	r.Record(Event{Kind: Left, Actor: "1", At: 2 * time.Second})
	r.Record(Event{Kind: Said})
	var kinds []Kind
	for _, e := range r.History() {
		kinds = append(kinds, e.Kind)
	}
	if want := []Kind{Asked, Left, Acquired, Said}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestOneGuardIsForOneScenarioOnly(t *testing.T) {
	if g, err := GuardByName("mark"); err != nil || g != GuardMark || slices.Contains(Guards(), GuardMark) {
		t.Errorf("%q, %v, among %v", g, err, Guards())
	}
	s := Scenario{Expect: map[string]Expectation{
		"single": {GuardNone: Breaks, GuardMark: Holds},
		"none":   Everywhere(Holds),
	}}
	if got := s.Guards("single"); !slices.Equal(got, []Guard{GuardNone, GuardMark}) {
		t.Errorf("guards %v", got)
	}
	if got := s.Guards("none"); !slices.Equal(got, Guards()) {
		t.Errorf("guards %v", got)
	}
	if got := s.Guards("setnx"); len(got) > 0 {
		t.Errorf("it is not about setnx, and is played under %v", got)
	}
}
