package scenarios_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

func story(h chaos.History) (text string) {
	for _, e := range h {
		text += fmt.Sprintln(e)
	}
	return text
}

// each plays every scenario, for each scheme and guard that it is about.
func each(t *testing.T, claim func(*testing.T, chaos.Scenario, chaos.Scheme, chaos.Guard)) {
	for _, scenario := range scenarios.All() {
		for name := range scenario.Expect {
			scheme, err := schemes.ByName(name)
			if err != nil {
				t.Fatalf("scenario %s: %v", scenario.Name, err)
			}
			for _, guard := range scenario.Guards(name) {
				t.Run(fmt.Sprintf("%s/%s/%s", scenario.Name, name, guard), func(t *testing.T) { claim(t, scenario, scheme, guard) })
			}
		}
	}
}

func TestEveryScenarioEndsAsExpectedInTheSimulation(t *testing.T) {
	each(t, func(t *testing.T, scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard) {
		h, verdict, err := sim.Play(scenario, scheme, guard, nil)
		if want := scenario.Expect[scheme.Name][guard]; verdict.Outcome != want || err != nil {
			t.Errorf("%s, want %s: %+v; not reached because of: %v\n%s", verdict.Outcome, want, verdict, err, story(h))
		}
		again, _, _ := sim.Play(scenario, scheme, guard, nil)
		if !slices.Equal(h, again) {
			t.Errorf("played again it is another story:\n%s\nthen\n%s", story(h), story(again))
		}
	})
}
