package scenarios_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
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

func play(t *testing.T, scenario, scheme string, guard chaos.Guard) (chaos.History, check.Verdict) {
	t.Helper()
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		t.Fatal(err)
	}
	sm, err := schemes.ByName(scheme)
	if err != nil {
		t.Fatal(err)
	}
	h, verdict, err := sim.Play(sc, sm, guard, nil)
	if err != nil {
		t.Fatalf("not reached: %v\n%s", err, story(h))
	}
	return h, verdict
}

// first returns the first such event of a client.
func first(t *testing.T, h chaos.History, actor string, kind chaos.Kind) chaos.Event {
	t.Helper()
	i := slices.IndexFunc(h, func(e chaos.Event) bool { return e.Actor == actor && e.Kind == kind })
	if i < 0 {
		t.Fatalf("client %s never %s:\n%s", actor, kind, story(h))
	}
	return h[i]
}

// Kleppmann, "Protecting a resource with a lock": what is left of the break when the token is checked.
func TestOnlyTheLateClientIsRefused(t *testing.T) {
	h, verdict := play(t, "gc-pause", "redlock", chaos.GuardAll)
	if refused := first(t, h, "1", chaos.Refused); verdict.Refusals != 1 || refused.Token >= first(t, h, "2", chaos.Acquired).Token {
		t.Errorf("%+v\n%s", verdict, story(h))
	}
}

// A guard by tokens refuses nobody who was not superseded, unless tokens repeat.
func TestNoGuardByTokensRefusesARightfulHolder(t *testing.T) {
	each(t, func(t *testing.T, scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard) {
		h, verdict, _ := sim.Play(scenario, scheme, guard, nil)
		if wrong := check.WrongRefusals(h); guard.UsesTokens() && verdict.TokenFaults == 0 && wrong > 0 {
			t.Errorf("%d wrong refusals\n%s", wrong, story(h))
		}
	})
}

// antirez, "Is Redlock safe?": a mark that has no order throws out whoever it finds.
func TestALateMarkEvictsTheRightfulHolderHalfDone(t *testing.T) {
	for _, scheme := range []string{"single", "redlock"} {
		h, verdict := play(t, "cas-token", scheme, chaos.GuardMark)
		if refused := first(t, h, "2", chaos.Refused); check.WrongRefusals(h) != 1 || verdict.LostUpdates > 0 || refused.At < first(t, h, "2", chaos.Wrote).At {
			t.Errorf("%+v\n%s", verdict, story(h))
		}
	}
}

// "Distributed locks with Redis", "Safety and liveness guarantees": deadlock free.
func TestADeadHoldersLockIsFreeWithinItsLease(t *testing.T) {
	h, _ := play(t, "setnx-crash", "single", chaos.GuardNone)
	died, again := first(t, h, "1", chaos.Died), first(t, h, "2", chaos.Acquired)
	if scenario, _ := scenarios.ByName("setnx-crash"); again.At-died.At > scenario.TTL+10*time.Millisecond {
		t.Errorf("it was free only %v later\n%s", again.At-died.At, story(h))
	}
}

func TestAHolderThatIsCutOffLeavesBeforeItsRivalComes(t *testing.T) {
	h, _ := play(t, "watchdog-cut", "redlock-watchdog", chaos.GuardNone)
	if left, came := first(t, h, "1", chaos.Left), first(t, h, "2", chaos.Acquired); left.At >= came.At {
		t.Errorf("it leaves at %v, and the rival comes at %v\n%s", left.At, came.At, story(h))
	}
}

func TestAHolderThatWakesUpIsToldAtOnce(t *testing.T) {
	for scenario, scheme := range map[string]string{"watchdog-pause": "redlock-watchdog", "suspend": "redlock"} {
		h, _ := play(t, scenario, scheme, chaos.GuardNone)
		if woke, left := first(t, h, "1", chaos.Ended), first(t, h, "1", chaos.Left); left.At-woke.At > time.Millisecond || left.At < woke.At {
			t.Errorf("%s: it wakes at %v and is told at %v\n%s", scenario, woke.At, left.At, story(h))
		}
	}
}

func TestItemsAreSoldTwiceWithoutAGuardOnly(t *testing.T) {
	tooMany := map[string]int{}
	scenario, _ := scenarios.ByName("oversell")
	for scheme := range scenario.Expect {
		for _, guard := range scenario.Guards(scheme) {
			_, verdict := play(t, "oversell", scheme, guard)
			t.Logf("%-12s %-6s %d sales of an item that was sold already", scheme, guard, verdict.Repeated)
			if guard == chaos.GuardNone {
				tooMany[scheme] = verdict.Repeated
			} else if locked := scheme == "single" || scheme == "redlock"; (locked || guard == chaos.GuardCAS) != (verdict.Repeated == 0) {
				t.Errorf("%s under guard %s: %d sales too many", scheme, guard, verdict.Repeated)
			}
		}
	}
	if tooMany["none"] < 10*tooMany["redlock"] || tooMany["redlock"] == 0 || tooMany["single"] == 0 || tooMany["local-mutex"] < 10*tooMany["single"] {
		t.Errorf("sales too many: %v", tooMany)
	}
}

// What breaks without a guard shows both halves: two inside at once, and damage. (A client that waits for ever, a key
// that is nobody's, and shoppers, whose coming and going nobody records, do not.)
func TestABreakIsTwoInsideAndALostUpdate(t *testing.T) {
	each(t, func(t *testing.T, scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard) {
		h, v, _ := sim.Play(scenario, scheme, guard, nil)
		if guard != chaos.GuardNone || v.Outcome != chaos.Breaks || v.Deadlocks+v.Orphans > 0 || scenario.Items > 0 {
			return
		}
		if v.Overlaps == 0 || v.LostUpdates == 0 {
			t.Errorf("%+v\n%s", v, story(h))
		}
	})
}

func TestEveryFaultSaysOfWhatKindItIs(t *testing.T) {
	kinds := []string{"kill", "pause", "partition", "packet", "clock", "memory"}
	each(t, func(t *testing.T, scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard) {
		h, _, _ := sim.Play(scenario, scheme, guard, nil)
		for _, e := range h {
			fault := e.Kind == chaos.Began || e.Kind == chaos.Ended || e.Kind == chaos.Died
			if fault != slices.Contains(kinds, e.Fault) {
				t.Errorf("%v: kind of fault %q", e, e.Fault)
			}
		}
	})
}

// A step that does not come about ends the scenario, whatever it has shown so far.
func TestWhatDoesNotComeAboutIsUnreached(t *testing.T) {
	for name, step := range map[string]func(*chaos.Stage){
		"a start of what runs":        func(s *chaos.Stage) { s.Start("A") },
		"a second death":              func(s *chaos.Stage) { s.Kill("A"); s.Kill("A") },
		"an eviction of nothing":      func(s *chaos.Stage) { s.Evict("A") },
		"power lost over no data":     func(s *chaos.Stage) { s.PowerLoss("A") },
		"a fail-over that loses none": func(s *chaos.Stage) { s.Client(1).Acquire(); s.Failover("A") },
		"a master that does not hang": func(s *chaos.Stage) { s.Resume("A") },
		"a master that is not there":  func(s *chaos.Stage) { s.Client(1).CutOff("F") },
		"a point that is passed by":   func(s *chaos.Stage) { s.Client(1).StopInAcquire(chaos.BeforeConfirm) },
		"a reply that is not lost":    func(s *chaos.Stage) { s.Client(1).LoseReply("A"); s.Client(1).ReplyWasLost("A") },
		"a quorum that is there":      func(s *chaos.Stage) { s.Client(1).MissQuorum() },
		"a lock that is free":         func(s *chaos.Stage) { s.Client(1).BeDenied() },
		"a lock that is not to be had": func(s *chaos.Stage) {
			s.Client(1).CutOff(s.Masters()...)
			s.Client(1).Acquire()
		},
		"a lease that is over": func(s *chaos.Stage) { s.Client(1).Acquire(); s.Wait(2 * s.TTL); s.Client(1).Check() },
		"a dead client's step": func(s *chaos.Stage) { s.Client(1).Acquire(); s.Client(1).Die(); s.Client(1).Acquire() },
	} {
		t.Run(name, func(t *testing.T) {
			redlock, _ := schemes.ByName("redlock")
			taken := false
			h, verdict, err := sim.Play(chaos.Scenario{Name: name, TTL: time.Second, Play: func(s *chaos.Stage) {
				step(s)
				taken = s.Err() == nil
			}}, redlock, chaos.GuardNone, nil)
			if taken || err == nil || verdict.Outcome != chaos.Unreached {
				t.Errorf("%+v, %v\n%s", verdict, err, story(h))
			}
		})
	}
}

func TestTheManualShowsAScenarioAsItIs(t *testing.T) {
	manual, err := os.ReadFile("../../docs/harness.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("gc_pause.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, body, _ := strings.Cut(string(source), "\n\nvar "); !strings.Contains(string(manual), body) {
		t.Error("docs/harness.md has another gc_pause.go")
	}
}

func TestEveryScenarioHasANameOfItsOwnAndASource(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios.All() {
		if s.Source == "" || s.About == "" || len(s.Expect) == 0 || seen[s.Name] {
			t.Errorf("scenario %q: source %q, about %q, expects %v, seen before: %v", s.Name, s.Source, s.About, s.Expect, seen[s.Name])
		}
		seen[s.Name] = true
	}
}

func TestAPlayLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	each(t, func(t *testing.T, scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard) {
		sim.Play(scenario, scheme, guard, nil)
	})
	for limit := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}
