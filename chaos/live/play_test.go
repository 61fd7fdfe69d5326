package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// The client processes of the tests are this test binary, once more.
func TestMain(m *testing.M) {
	BeClient()
	os.Exit(m.Run())
}

// play carries out one cell and fails the test on an error of the harness.
func play(t *testing.T, pool *Pool, scenario, scheme string, guard chaos.Guard) Result {
	t.Helper()
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		t.Fatal(err)
	}
	sm, err := schemes.ByName(scheme)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Play(bounded(t), Run{Pool: pool, Scenario: sc, Scheme: sm, Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func story(h chaos.History) (text string) {
	for _, e := range h {
		text += fmt.Sprintln(e)
	}
	return text
}

func TestEveryScenarioEndsAsExpected(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		pool := newPool(t, c)
		for _, scenario := range scenarios.All() {
			for _, scheme := range schemes.All() {
				expected, about := scenario.Expect[scheme.Name]
				for _, guard := range chaos.Guards() {
					// Guard writes is what make chaos plays beside these; here it is told apart where it matters.
					if !about || guard == chaos.GuardWrites && expected[chaos.GuardWrites] == expected[chaos.GuardAll] {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s", scenario.Name, scheme.Name, guard), func(t *testing.T) {
						result := play(t, pool, scenario.Name, scheme.Name, guard)
						v := result.Verdict
						if v.Outcome != expected[guard] || result.Err != nil || !result.Available {
							t.Errorf("%+v, not reached because of: %v, available afterwards: %v\n%s", v, result.Err, result.Available, story(result.History))
						}
						if expected[guard] == chaos.Breaks && (v.Overlaps == 0 || v.LostUpdates == 0) {
							t.Errorf("it breaks without two clients inside and a lost update: %+v\n%s", v, story(result.History))
						}
					})
				}
			}
		}
	})
}

func TestThePausedHoldersStaleWriteIsRefusedByTheGuard(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		result := play(t, newPool(t, c), "gc-pause", "redlock", chaos.GuardAll)
		if result.Verdict.Overlaps != 1 || result.Verdict.Refusals != 1 {
			t.Errorf("want one overlap and one refusal: %+v\n%s", result.Verdict, story(result.History))
		}
		i := slices.IndexFunc(result.History, func(e chaos.Event) bool { return e.Kind == chaos.Refused })
		if i < 0 || result.History[i].Actor != "1" {
			t.Errorf("client 1 was not refused:\n%s", story(result.History))
		}
	})
}

func TestAFaultThatCannotHappenLeavesTheRunUnreached(t *testing.T) {
	server, ok := testenv.RedisServer(t)
	if !ok {
		return
	}
	// A machine with redis-server and no C compiler cannot step a server's clock.
	path := t.TempDir()
	if err := os.Symlink(server, filepath.Join(path, "redis-server")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	if _, err := exec.LookPath("cc"); err == nil {
		t.Fatal("there is a compiler after all")
	}
	result := play(t, newPool(t, Config{Kind: Process, Dir: t.TempDir()}), "clock-jump", "redlock", chaos.GuardNone)
	if result.Verdict.Outcome != chaos.Unreached || !errors.Is(result.Err, ErrUnsupported) {
		t.Errorf("%+v, %v", result.Verdict, result.Err)
	}
}

func TestAnInterruptedRunLeavesNothingBehind(t *testing.T) {
	leavesNoGoroutine(t)
	onEachKind(t, func(t *testing.T, c Config) {
		pool := NewPool(c)
		ctx, interrupt := context.WithCancelCause(bounded(t))
		wanted := errors.New("interrupted by the test")
		sc, _ := scenarios.ByName("gc-pause")
		sm, _ := schemes.ByName("redlock")
		_, err := Play(ctx, Run{Pool: pool, Scenario: sc, Scheme: sm, Guard: chaos.GuardNone, Each: func(e chaos.Event) {
			if e.Kind == chaos.Began { // client 1 is stopped
				interrupt(wanted)
			}
		}})
		if !errors.Is(err, wanted) {
			t.Errorf("the error is %v", err)
		}
		must(t, pool.Close())
		if pids := children(t); len(pids) > 0 {
			t.Errorf("still running: %v", pids)
		}
	})
}

// children returns the child processes of this test binary that are still there.
func children(t *testing.T) []string {
	t.Helper()
	self := fmt.Sprint(os.Getpid())
	var pids []string
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue // gone meanwhile
		}
		var pid, ppid, state string
		if _, err := fmt.Sscan(string(data[slices.Index(data, ')')+1:]), &state, &ppid); err == nil && ppid == self {
			fmt.Sscan(string(data), &pid)
			pids = append(pids, pid+" "+state)
		}
	}
	return pids
}
