//go:build unix

package live

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ory/dockertest/v3"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// dockerEngine returns the machine's engine, if it has one.
func dockerEngine(t *testing.T) (*engine, bool) {
	t.Helper()
	if !hasKind(t, Docker) {
		return nil, false
	}
	e, err := findEngine(bounded(t))
	must(t, err)
	return e, true
}

// ownContainers are those of this test binary, running or not.
func ownContainers(t *testing.T, e *engine) (names []string) {
	t.Helper()
	all, err := e.containers()
	must(t, err)
	for _, c := range all {
		if c.Labels[harnessLabel] == harness(os.Getpid()) {
			names = append(names, c.Names...)
		}
	}
	return names
}

func wantContainers(t *testing.T, e *engine, n int, when string) {
	t.Helper()
	if names := ownContainers(t, e); len(names) != n {
		t.Errorf("%s there are containers %q, want %d", when, names, n)
	}
}

func TestAutoTakesDocker(t *testing.T) {
	e, ok := dockerEngine(t)
	if !ok {
		return
	}
	k, reason, err := Choose(t.Context(), "auto")
	must(t, err)
	if k != Docker || reason != e.String() || !strings.Contains(reason, e.image) {
		t.Errorf("chose %v because %q", k, reason)
	}
}

func TestImageThatCannotBeHadIsNamedAndLeavesDockerUntaken(t *testing.T) {
	if _, ok := dockerEngine(t); !ok {
		return
	}
	t.Setenv(imageVar, "127.0.0.1:1/none:1") // a registry that nobody runs
	_, _, err := Choose(t.Context(), "docker")
	mustBe(t, err, ErrUnsupported)
	mustSay(t, err, "127.0.0.1:1/none:1")
	k, reason, err := Choose(t.Context(), "auto")
	must(t, err)
	if k == Docker || !strings.Contains(reason, "127.0.0.1:1/none:1") {
		t.Errorf("chose %v because %q", k, reason)
	}
}

func TestImageNamesMayHaveARegistryWithAPort(t *testing.T) {
	for image, want := range map[string][2]string{
		"redis":                    {"redis", "latest"},
		"redis:7.4":                {"redis", "7.4"},
		"localhost:5000/redis":     {"localhost:5000/redis", "latest"},
		"localhost:5000/redis:7.4": {"localhost:5000/redis", "7.4"},
	} {
		repository, tag := (&engine{image: image}).splitImage()
		if repository != want[0] || tag != want[1] {
			t.Errorf("%s: %s and %s", image, repository, tag)
		}
	}
}

func TestNoContainerIsLeft(t *testing.T) {
	e, ok := dockerEngine(t)
	if !ok {
		return
	}
	nodes := startNodes(t, Config{Kind: Docker, N: 2, Persistence: AOFAlways, Dir: t.TempDir()})
	wantContainers(t, e, 2, "after the start")
	must(t, nodes[0].Kill(bounded(t)))
	wantContainers(t, e, 1, "after a kill")
	must(t, nodes[0].Restart(bounded(t)))
	wantContainers(t, e, 2, "after a restart")
	must(t, closeAll(nodes))
	wantContainers(t, e, 0, "in the end")
}

func TestInterruptedStartLeavesNoContainer(t *testing.T) {
	e, ok := dockerEngine(t)
	if !ok {
		return
	}
	leavesNoGoroutine(t)
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		nodes, err := StartNodes(ctx, Config{Kind: Docker, N: 3, Dir: t.TempDir()})
		cancel()
		if err == nil { // it was faster
			must(t, closeAll(nodes))
		}
		wantContainers(t, e, 0, "after "+after.String())
	}
}

func TestInterruptedRunLeavesNoContainer(t *testing.T) {
	e, ok := dockerEngine(t)
	if !ok {
		return
	}
	leavesNoGoroutine(t)
	pool := NewPool(Config{Kind: Docker, Dir: t.TempDir()})
	ctx, interrupt := context.WithCancel(bounded(t))
	sc, err := scenarios.ByName("clock-jump")
	must(t, err)
	sm, err := schemes.ByName("redlock")
	must(t, err)
	_, err = Play(ctx, Run{Pool: pool, Scenario: sc, Scheme: sm, Guard: chaos.GuardNone, Each: func(e chaos.Event) {
		if e.Kind == chaos.Acquired {
			interrupt()
		}
	}})
	mustBe(t, err, context.Canceled)
	must(t, pool.Close())
	wantContainers(t, e, 0, "after the interrupt")
}

func TestContainersOfAHarnessThatWasKilledAreRemoved(t *testing.T) {
	e, ok := dockerEngine(t)
	if !ok {
		return
	}
	killed := exec.Command("true")
	must(t, killed.Run())
	repository, tag := e.splitImage()
	const name = "quorumlock-test-left-behind"
	_, err := e.pool.RunWithOptions(&dockertest.RunOptions{
		Name: name, Repository: repository, Tag: tag, Labels: map[string]string{harnessLabel: harness(killed.Process.Pid)},
	})
	must(t, err)
	t.Cleanup(func() { e.remove(name) })
	startNodes(t, Config{Kind: Docker, N: 1, Dir: t.TempDir()})
	if r, ok := e.pool.ContainerByName("^/" + name + "$"); ok {
		t.Errorf("%s is still there", r.Container.Name)
	}
}

func TestServerInAnImageMustBeNewEnough(t *testing.T) {
	e := &engine{image: "redis:5"}
	for version, ok := range map[string]bool{"6.2.0": true, "7.9-rc1": true, "10.0.1": true, "6.0.16": false, "5.0": false, "": false, "x": false} {
		err := checkVersion(e, version)
		if ok {
			must(t, err)
			continue
		}
		mustBe(t, err, ErrUnsupported)
		mustSay(t, err, "redis:5")
	}
}
