//go:build unix

package live

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// startProcess starts one redis-server node, if this machine has what it takes.
func startProcess(t *testing.T) (*serverNode, bool) {
	t.Helper()
	if _, ok := testenv.RedisServer(t); !ok {
		return nil, false
	}
	return startNodes(t, Config{Kind: Process, N: 1, Dir: t.TempDir()})[0].(*serverNode), true
}

func pid(n Node) int { return n.(*serverNode).server.(serverProcess).pid }

// isRunning says whether there is a process of that id that is not merely waiting to be waited for.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z")
}

func TestNoProcessIsLeft(t *testing.T) {
	n, ok := startProcess(t)
	if !ok {
		return
	}
	first := pid(n)
	if !isRunning(first) {
		t.Fatalf("process %d does not run", first)
	}
	must(t, n.Kill(bounded(t)))
	if isRunning(first) {
		t.Error("Kill returned before the process was gone")
	}
	must(t, n.Restart(bounded(t)))
	second := pid(n)
	must(t, n.Close())
	if isRunning(second) {
		t.Error("Close returned before the process was gone")
	}
}

func TestNodeIsOutOfReachOfCtrlC(t *testing.T) {
	n, ok := startProcess(t)
	if !ok {
		return
	}
	group, err := syscall.Getpgid(pid(n))
	must(t, err)
	if group == syscall.Getpgrp() {
		t.Error("the node is in the harness's process group, to which a terminal sends SIGINT")
	}
}

// TestHarnessForItsDeath is no test but the harness that TestNodesDieWithTheHarness kills.
func TestHarnessForItsDeath(t *testing.T) {
	dir := os.Getenv("LIVE_TEST_DIR")
	if dir == "" {
		return
	}
	nodes, err := StartNodes(t.Context(), Config{Kind: Process, N: 3, Dir: dir})
	must(t, err)
	for _, n := range nodes {
		fmt.Println("pid", pid(n))
	}
	fmt.Println("ready")
	select {}
}

func TestNodesDieWithTheHarness(t *testing.T) {
	if _, ok := testenv.RedisServer(t); !ok {
		return
	}
	self, err := os.Executable()
	must(t, err)
	harness := exec.CommandContext(bounded(t), self, "-test.run=^TestHarnessForItsDeath$")
	harness.Env = append(os.Environ(), "LIVE_TEST_DIR="+t.TempDir())
	out, err := harness.StdoutPipe()
	must(t, err)
	must(t, harness.Start())
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	must(t, harness.Process.Kill())
	harness.Wait()
	if len(pids) != 3 {
		t.Fatalf("the harness started %d nodes, want 3", len(pids))
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d dies with the harness", pid), func() bool { return !isRunning(pid) })
	}
}

func TestFailedStartShowsWhatTheServerSaid(t *testing.T) {
	path, ok := testenv.RedisServer(t)
	if !ok {
		return
	}
	leavesNoGoroutine(t)
	dir := t.TempDir()
	n := &serverNode{site: site{name: "A", addr: loopback(1)}, port: -1, dir: dir, setup: &serverSetup{
		runner: redisServer{path: path}, dir: dir,
	}}
	err := n.launch(bounded(t))
	mustSay(t, err, "argument must be between 0 and 65535")
}

func TestTakenPortIsTold(t *testing.T) {
	n, ok := startProcess(t)
	if !ok {
		return
	}
	rival := &serverNode{site: site{name: "B", addr: n.addr}, port: n.port, dir: t.TempDir(), setup: n.setup}
	must(t, newClockFile(rival.clockFile()))
	mustBe(t, rival.launch(bounded(t)), errPortTaken)
}

func TestNodeThatDiesByItselfIsReported(t *testing.T) {
	n, ok := startProcess(t)
	if !ok {
		return
	}
	must(t, syscall.Kill(pid(n), syscall.SIGTERM))
	<-n.server.done()
	mustSay(t, n.Kill(bounded(t)), "ended by itself")
	must(t, n.Restart(bounded(t)))
}

func TestOneLibraryServesAllNodesOfADir(t *testing.T) {
	_, ok1 := testenv.RedisServer(t)
	_, ok2 := testenv.Compiler(t)
	if !ok1 || !ok2 {
		return
	}
	dir := filepath.Join(t.TempDir(), "with space: and colon")
	must(t, os.Mkdir(dir, 0o700))
	for range 2 {
		n := startNodes(t, Config{Kind: Process, N: 1, Dir: dir})[0]
		_, err := n.StepClock(bounded(t), time.Minute)
		must(t, err)
	}
	libs, err := filepath.Glob(filepath.Join(dir, "clock-*"))
	must(t, err)
	if len(libs) != 1 {
		t.Errorf("found %q, want one library and no leavings", libs)
	}
}

func TestForkedChildOfAServerKeepsTheClock(t *testing.T) {
	if _, ok := testenv.Compiler(t); !ok {
		return
	}
	n, ok := startProcess(t)
	if !ok {
		return
	}
	ctx := bounded(t)
	_, err := n.StepClock(ctx, time.Hour)
	must(t, err)
	command(t, n.Addr(), "SET", "lock", "1", "PX", "600000")
	command(t, n.Addr(), "BGSAVE")
	eventually(t, "the child has saved", func() bool {
		info := command(t, n.Addr(), "INFO", "persistence")
		return strings.Contains(info, "rdb_bgsave_in_progress:0") && strings.Contains(info, "rdb_last_bgsave_status:ok")
	})
	dump, err := os.Stat(filepath.Join(n.dir, "dump.rdb"))
	must(t, err)
	if dump.Size() == 0 {
		t.Error("the child has saved nothing")
	}
}

func TestWithoutACompilerAStepIsUnsupported(t *testing.T) {
	path, ok := testenv.RedisServer(t)
	if !ok {
		return
	}
	bin := t.TempDir()
	must(t, os.Symlink(path, filepath.Join(bin, "redis-server")))
	t.Setenv("PATH", bin)
	n := startNodes(t, Config{Kind: Process, N: 1, Dir: t.TempDir()})[0]
	_, err := n.StepClock(bounded(t), time.Minute)
	mustBe(t, err, ErrUnsupported)
	mustSay(t, err, "no C compiler")
}

func TestStepOrDriftWithoutTheLibraryHasNoEffect(t *testing.T) {
	n, ok := startProcess(t)
	if !ok {
		return
	}
	ctx := bounded(t)
	must(t, n.Kill(ctx))
	n.setup.clockLib, n.setup.clockErr = "", nil
	must(t, n.Restart(ctx))
	_, err := n.Drift(ctx, 0.5)
	mustBe(t, err, ErrNoEffect)
	for _, d := range []time.Duration{500 * time.Millisecond, -500 * time.Millisecond, time.Hour} {
		_, err := n.StepClock(ctx, d)
		mustBe(t, err, ErrNoEffect)
		if errors.Is(err, ErrUnsupported) {
			t.Errorf("a step without effect passes for an unsupported one: %v", err)
		}
	}
}
