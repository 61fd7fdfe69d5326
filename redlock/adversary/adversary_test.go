package adversary

import (
	"flag"
	"iter"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var schedules = flag.Int("adversary.schedules", usualSchedules, "how many schedules must show no violation")

// In no schedule do two grants carry one token, or a grant that was asked for after another had been returned a smaller
// one: though keys vanish at any time, requests come late, twice, out of order or never, replies are lost, and clocks
// show anything. How often the schedules got to the states that matter is logged, and required.
func TestAnAdversaryFindsNoTokenTwiceOrOutOfOrder(t *testing.T) {
	before := runtime.NumGoroutine()
	first, seen := search(*schedules, sound, "")
	if first < *schedules {
		t.Fatalf("schedule %d:%s", first, schedule(first, sound, map[string]int{}, true).retell())
	}
	for limit := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
	t.Logf("%d schedules, and in them", *schedules)
	for _, state := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%9d %s", seen[state], state)
	}
	for state, perMille := range map[string]int{
		"schedules with two grants":                    200,
		"grants begun after another had returned":      150,
		"grants, fast path":                            500,
		"grants, slow path":                            100,
		"grants, slow path, a key gone before":         50,
		"grants, slow path, more than one round of it": 1,
		"confirmations refused: gone":                  500,
		"confirmations refused: held":                  200,
		"confirmations refused: ahead":                 20,
		"repairs":                                      5,
	} {
		if least := *schedules * perMille / 1000; seen[state] < least {
			t.Errorf("only %d %s: want %d", seen[state], state, least)
		}
	}
}

// Each part of the proof is needed: in the same schedules there is a violation when one is taken out. With -v it is told
// step by step; x, y and z are the masters, and 2b is the second acquisition of client 2.
func TestTheTokensNeedBothGuardsAndTheCounting(t *testing.T) {
	for _, missing := range []struct {
		flaw  flaw
		kinds []string
	}{
		{noOwnerGuard, []string{"duplicate"}},
		{noCountGuard, []string{"duplicate", "inversion"}},
		{noCounting, []string{"duplicate"}},
	} {
		t.Run(missing.flaw.String(), func(t *testing.T) {
			for _, kind := range missing.kinds {
				first, _ := search(enoughSchedules, missing.flaw, kind)
				if first == enoughSchedules {
					t.Fatalf("no %s in %d schedules", kind, first)
				}
				t.Logf("the first %s is in schedule %d", kind, first)
			}
			t.Logf("a short one:%s", shrunk(t, missing.flaw).retell())
		})
	}
}

func TestAScheduleFollowsFromItsNumber(t *testing.T) {
	for number := range 100 {
		one := schedule(number, sound, map[string]int{}, true).retell()
		two := schedule(number, sound, map[string]int{}, true).retell()
		if one != two {
			t.Fatalf("schedule %d:%s\nand once more:%s", number, one, two)
		}
	}
}

// enoughSchedules is in how many a violation must be found.
const enoughSchedules = 100_000

// A schedule is known by its number, which seeds the adversary's choices. The other half of the seed is as good as any;
// with this one the rarest violations come early enough for the race detector.
func schedule(number int, f flaw, seen map[string]int, telling bool) *world {
	return play(rand.New(rand.NewPCG(uint64(number), 7)).IntN, f, seen, telling)
}

// search plays the schedules 0 .. n-1 until one ends in a violation of the given kind, and returns its number, or n. The
// cores share the work; each schedule is played on one.
func search(n int, f flaw, kind string) (first int, seen map[string]int) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	first, seen = n, map[string]int{}
	stride := runtime.GOMAXPROCS(0)
	for worker := range stride {
		workers.Go(func() {
			mine := map[string]int{}
			for number, end := worker, n; number < end; number += stride {
				w := schedule(number, f, mine, false)
				mu.Lock()
				if w.violation != "" && strings.HasPrefix(w.violation, kind) {
					first = min(first, number)
				}
				end = first
				mu.Unlock()
			}
			mu.Lock()
			defer mu.Unlock()
			for state, count := range mine {
				seen[state] += count
			}
		})
	}
	workers.Wait()
	return first, seen
}

// shrunk has rapid draw the choices, and returns the shortest schedule that it finds with a duplicate.
func shrunk(t *testing.T, f flaw) *world {
	for name, value := range map[string]string{ // which rapid takes from nowhere else
		"rapid.checks": strconv.Itoa(enoughSchedules), "rapid.seed": "1", "rapid.nofailfile": "true", "rapid.shrinktime": "5s",
	} {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		defer flag.Set(name, before)
	}
	var choices []int // of the last run, which in the end is the shortest
	r := &recorder{TB: t}
	rapid.Check(r, func(t *rapid.T) {
		choices = nil
		w := play(func(n int) int {
			choice := rapid.IntRange(0, n-1).Draw(t, "choice")
			choices = append(choices, choice)
			return choice
		}, f, map[string]int{}, false)
		if strings.HasPrefix(w.violation, "duplicate") {
			t.Fatal(w.violation)
		}
	})
	if !r.failed {
		t.Fatalf("rapid has found no duplicate in %d schedules", enoughSchedules)
	}
	next, stop := iter.Pull(slices.Values(choices))
	defer stop()
	w := play(func(int) int { choice, _ := next(); return choice }, f, map[string]int{}, true)
	if !strings.HasPrefix(w.violation, "duplicate") {
		t.Fatalf("played again, the schedule ends otherwise: %q", w.violation)
	}
	return w
}

// A recorder stands in for a test where a property is required to fail.
type recorder struct {
	rapid.TB
	failed bool
}

func (r *recorder) Log(...any)            {}
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) FailNow()              { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }
