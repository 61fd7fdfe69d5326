//go:build linux

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// TestClockLibraryMovesEveryWallClockAndNoOther asks every clock that a program may read, itself and as a forked child.
func TestClockLibraryMovesEveryWallClockAndNoOther(t *testing.T) {
	cc, ok := testenv.Compiler(t)
	if !ok {
		return
	}
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe")
	if out, err := exec.Command(cc, "-o", probe, filepath.Join("testdata", "probe.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lib, err := buildClock(bounded(t), dir)
	must(t, err)
	file := filepath.Join(dir, "clock")
	run := func(file string) string {
		cmd := exec.CommandContext(bounded(t), probe)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib, clockFileVar+"="+file)
		out, err := cmd.CombinedOutput()
		must(t, err)
		said := strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ", ")
		return strings.ReplaceAll(said, "-0", "0")
	}
	both := func(wall string) string {
		one := "gettimeofday " + wall + ", realtime " + wall + ", coarse " + wall + ", time " + wall + ", monotonic 0"
		return one + ", " + one
	}

	must(t, newClockFile(file))
	if got, want := run(file), both("0"); got != want {
		t.Errorf("at rest: %s", got)
	}
	must(t, stepClockFile(file, time.Hour+700*time.Millisecond))
	must(t, stepClockFile(file, -700*time.Millisecond))
	if got, want := run(file), both("3600"); got != want {
		t.Errorf("an hour ahead: %s", got)
	}
	must(t, stepClockFile(file, -2*time.Hour))
	if got, want := run(file), both("-3600"); got != want {
		t.Errorf("an hour behind: %s", got)
	}
	must(t, changeClockFile(file, func(w *warp) {
		// So slow that what passes until the library is asked does not show.
		*w = warp{ppm: -1, since: time.Now().Add(-1e6 * time.Hour).UnixNano()}
	}))
	if got, want := run(file), both("-3600"); got != want {
		t.Errorf("a million hours at a millionth too slow: %s", got)
	}
	must(t, resetClockFile(file))
	if got, want := run(file), both("0"); got != want {
		t.Errorf("right again: %s", got)
	}
	must(t, os.WriteFile(file, append([]byte{1}, make([]byte, clockFileSize-1)...), 0o600))
	if got, want := run(file), both("0"); got != want {
		t.Errorf("its harness died while it wrote: %s", got)
	}
	for name, path := range map[string]string{"no file": "", "a file that is not there": filepath.Join(dir, "none")} {
		if got, want := run(path), both("0"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestBrokenCompilerIsUnsupported(t *testing.T) {
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "cc"), []byte("#!/bin/sh\necho no such header >&2\nexit 1\n"), 0o700))
	t.Setenv("PATH", bin)
	dir := t.TempDir()
	_, err := buildClock(bounded(t), dir)
	mustBe(t, err, ErrUnsupported)
	mustSay(t, err, "no such header")
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left behind", left)
	}
}
