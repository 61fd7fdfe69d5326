package sim

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

func scheme(t testing.TB, name string) chaos.Scheme {
	t.Helper()
	s, err := schemes.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fault(t testing.TB, name string) Fault {
	t.Helper()
	f, err := FaultByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func retell(h chaos.History) string {
	var b strings.Builder
	for i, e := range h {
		fmt.Fprintf(&b, "%3d %v\n", i+1, e)
	}
	return b.String()
}

// The same plan gives the same history, to the letter, whatever else the machine does and however many cores it has.
func TestAPlanIsTheWholeStory(t *testing.T) {
	first := map[string]string{}
	for _, procs := range []int{1, 2, 2} {
		before := runtime.GOMAXPROCS(procs)
		for _, s := range schemes.All() {
			for _, f := range Faults() {
				for seed := range uint64(5) {
					plan := Cell{Scheme: s, Fault: f, Guard: chaos.GuardWrites}.Draw(seed)
					got := retell(Run(s, plan, nil).History)
					want, ok := first[plan.String()]
					if !ok {
						first[plan.String()] = got
					} else if got != want {
						t.Fatalf("%v:\n%s\nand then, with GOMAXPROCS %d:\n%s", plan, want, procs, got)
					}
				}
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

// A runner that has played other plans before tells the same story as a fresh one.
func TestARunnerForgets(t *testing.T) {
	var r Runner
	defer r.Close()
	for _, f := range Faults() {
		for seed := range uint64(20) {
			plan := Cell{Scheme: scheme(t, "redlock"), Fault: f, Guard: chaos.GuardAll}.Draw(seed)
			if used, fresh := retell(r.Run(scheme(t, "redlock"), plan, nil).History), retell(Run(scheme(t, "redlock"), plan, nil).History); used != fresh {
				t.Fatalf("%v:\n%s\nfresh:\n%s", plan, used, fresh)
			}
		}
	}
}

func TestPlansAreTheirText(t *testing.T) {
	for _, s := range schemes.All() {
		for _, f := range Faults() {
			for seed := range uint64(50) {
				plan := Cell{Scheme: s, Fault: f, Guard: chaos.GuardAll}.Draw(seed)
				back, err := ParsePlan(plan.String())
				if err != nil || back.String() != plan.String() {
					t.Fatalf("%v: %v, %v", plan, back, err)
				}
			}
		}
	}
	for _, text := range []string{
		"", "redlock", "redlock client-pause none counter 2x1", "redlock client-pause none counter 2 5", "redlock client-pause none counter 0x1 5",
		"redlock client-pause none counter 2x99 5", "redlock client-pause none sums 2x1 5", "redlock client-pause some counter 2x1 5", "redlock client-pause none counter 2x1 -5",
		"redlock client-pause none counter 2x1 5 1@2", "redlock client-pause none counter 2x1 5 1@x:pause", "redlock client-pause none counter 2x1 5 1@2:nothing",
		"redlock client-pause none counter 2x1 5 1@2:cut,F", "redlock client-pause none counter 2x1 5 1@2:pause,soon",
		"redlock client-pause none counter 2x1 5 1@2:cut", "redlock client-pause none counter 2x1 5 1@2:pause",
		"redlock client-pause none counter 2x1 5 7@2:pause,1s", "redlock client-pause none counter 2x1 5 1@2:pause,-1s",
		"redlock client-slow-clock none counter 2x1 5 1@2:slow,-400ms",
	} {
		if plan, err := ParsePlan(text); err == nil {
			t.Errorf("%q is read as %v", text, plan)
		}
	}
}

func TestASearchLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	var progress Progress
	n := 0
	cells := Cells(schemes.All(), Faults(), []chaos.Guard{chaos.GuardAll}, "")
	for range SearchAll(t.Context(), cells, Budget{Schedules: 5}, &progress) {
		n++
	}
	if n != len(cells) {
		t.Errorf("%d of %d cells were searched", n, len(cells))
	}
	awaitGoroutines(t, before)
}

// The article's examples, and the pause that it begins with, are found by search alone, and shrink to lists as short as
// its own.
func TestTheArticlesBreaksAreFound(t *testing.T) {
	for _, example := range []struct{ source, scheme, fault string }{
		{"Protecting a resource with a lock: the pause", "redlock", "client-pause"},
		{"Protecting a resource with a lock: the delayed packet", "redlock", "late-write"},
		{"Breaking Redlock with bad timings, 1st example: a clock jumps", "redlock", "master-clock-forward"},
		{"the same, variant: a master forgets", "redlock", "master-amnesia"},
		{"Breaking Redlock with bad timings, 2nd example: a pause while acquiring", "redlock-naive", "client-pause"},
	} {
		s := scheme(t, example.scheme)
		found := Cell{Scheme: s, Fault: fault(t, example.fault), Guard: chaos.GuardNone}.Search(0, 1, 10_000)
		if found.Worst == nil {
			t.Errorf("%s: not found in %d schedules", example.source, found.Runs)
			continue
		}
		story := Story(Run(s, *found.Worst, nil).History)
		t.Logf("%s: after %d schedules; make replay PLAN='%v'\n%s", example.source, found.Runs, found.Worst, retell(story))
		if len(story) > 10 {
			t.Errorf("%s: the story has %d steps", example.source, len(story))
		}
	}
}
