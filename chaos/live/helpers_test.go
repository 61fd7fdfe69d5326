package live

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// hang bounds whatever should happen soon: a test that comes near it hangs.
const hang = 30 * time.Second

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	return ctx
}

// eventually fails the test unless ok comes true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(hang)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never came true: %s", what)
		}
	}
}

// leavesNoGoroutine checks, after the test and its other clean-ups, that as many goroutines run as now.
func leavesNoGoroutine(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		limit := time.Now().Add(hang)
		for runtime.NumGoroutine() > before {
			if time.Now().After(limit) {
				stacks := make([]byte, 1<<20)
				t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(),
					stacks[:runtime.Stack(stacks, true)])
				return
			}
			runtime.Gosched()
		}
	})
}

// onEachKind runs a test on every kind of node that this machine has.
func onEachKind(t *testing.T, test func(t *testing.T, c Config)) {
	for _, each := range kinds() {
		t.Run(each.name, func(t *testing.T) {
			if hasKind(t, each.id) {
				test(t, Config{Kind: each.id, N: 1, Dir: t.TempDir()})
			}
		})
	}
}

// hasKind says whether this machine has what nodes of a kind take.
func hasKind(t *testing.T, k Kind) bool {
	t.Helper()
	each, err := k.lookup()
	must(t, err)
	if _, err := each.available(t.Context()); err != nil {
		testenv.Missing(t, err.Error())
		return false
	}
	return true
}

// startNodes starts nodes and closes them when the test ends.
func startNodes(t *testing.T, c Config) []Node {
	t.Helper()
	leavesNoGoroutine(t)
	nodes, err := StartNodes(bounded(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeAll(nodes); err != nil {
			t.Error(err)
		}
	})
	return nodes
}

// command sends one command to addr and returns the reply as one word for each element.
func command(t *testing.T, addr string, words ...string) string {
	t.Helper()
	a, err := askNode(bounded(t), addr, words...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(a.text, " ")
}

// pttl is what is left of a key's lease.
func pttl(t *testing.T, n Node, key string) time.Duration {
	t.Helper()
	ms, err := strconv.Atoi(command(t, n.Addr(), "PTTL", key))
	must(t, err)
	return time.Duration(ms) * time.Millisecond
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want one that is %q", err, target)
	}
}

func mustSay(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("got error %v, want one that says %q", err, text)
	}
}
