package mutants_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/mutants"
	_ "github.com/b6e7cabe/quorumlock/chaos/sim" // a change of what is mutated is to run the test again
)

const (
	root = "../.."

	// enough is how many schedules of each search the client passes as it is, and in how many each mutant is caught.
	enough = 4000
)

func TestTheClientAsItIsHasAllProperties(t *testing.T) {
	t.Parallel()
	if found := hunt(t, build(t, ""), "-schedules", strconv.Itoa(enough)); found != nil {
		t.Error(found)
	}
}

// Each mutant is caught by the property that it names, and again when that schedule alone is played again.
func TestEveryMutantIsCaught(t *testing.T) {
	var mu sync.Mutex
	caught := map[string]*finding{}
	t.Cleanup(func() { t.Log("\n" + table(caught)) })
	for _, m := range mutants.All() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			overlay, err := m.Apply(root, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			binary := build(t, overlay)
			found := hunt(t, binary, "-property", m.Caught, "-schedules", strconv.Itoa(enough))
			if found == nil {
				t.Fatalf("%s: not caught by %s in %d schedules of each search", m.About, m.Caught, enough)
			}
			t.Logf("%s: seed %s, plan %s: %s", m.About, found.seed, found.plan, found.what)
			again := hunt(t, binary, "-property", m.Caught, "-schedules", "1", "-search", found.search, "-seed", found.seed)
			if again == nil || again.plan != found.plan || again.what != found.what {
				t.Errorf("seed %s of the search %s again: %v", found.seed, found.search, again)
			}
			mu.Lock()
			defer mu.Unlock()
			caught[m.Name] = found
		})
	}
}

func TestMutantsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutants.All() {
		if seen[m.Name] {
			t.Errorf("two mutants have the name %s", m.Name)
		}
		seen[m.Name] = true
	}
}

// A source that has changed under a mutant is an error, not a mutant that does nothing.
func TestAMutantMustApplyOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("x\nx\ny\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for old, ok := range map[string]bool{"x": false, "y": true, "z": false} {
		if _, err := (mutants.Mutant{Name: "m", File: "a.go", Old: old}).Apply(dir, t.TempDir()); (err == nil) != ok {
			t.Errorf("%q: %v", old, err)
		}
	}
}

func table(caught map[string]*finding) string {
	const row = "%-30s %-10s %9s  %s\n"
	text := fmt.Sprintf(row, "mutant", "caught by", "schedules", "in the search")
	for _, m := range mutants.All() {
		if f := caught[m.Name]; f != nil {
			text += fmt.Sprintf(row, m.Name, f.property, f.schedules, f.search)
		}
	}
	return text
}

// build compiles the hunt, with an overlay if there is one.
func build(t *testing.T, overlay string) (binary string) {
	t.Helper()
	if _, err := os.ReadDir("hunt"); err != nil { // so that a change there is, too
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), "hunt")
	// Without inlining the project's packages compile in half of the time, and the hunt runs as fast.
	args := []string{"build", "-gcflags", "github.com/b6e7cabe/quorumlock/...=-l", "-ldflags", "-s -w", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(bounded(t), "go", append(args, "./chaos/mutants/hunt")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return binary
}

// finding is the line that hunt prints.
type finding struct{ property, schedules, search, seed, plan, what string }

// hunt runs it; it returns nil if nothing was found.
func hunt(t *testing.T, binary string, args ...string) *finding {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), binary, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // there are as many of them at once as there are processors
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	fields := strings.Split(strings.TrimSpace(string(out)), "\t")
	if cmd.ProcessState.ExitCode() != 1 || len(fields) != 6 {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return &finding{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]}
}

// bounded ends what hangs.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
