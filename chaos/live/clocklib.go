//go:build unix

package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

//go:embed clocklib/clocklib.c
var clockSource []byte

// clockFileVar names the environment variable in which clocklib.c looks for its file.
const clockFileVar = "QUORUMLOCK_CLOCK_FILE"

// buildClock compiles the library that steps a redis-server's clock into dir, unless it is there, and returns its path.
// The error wraps ErrUnsupported.
func buildClock(ctx context.Context, dir string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", unsupported("stepping a redis-server's clock needs Linux")
	}
	lib := filepath.Join(dir, fmt.Sprintf("clock-%.8x.so", sha256.Sum256(clockSource)))
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	cc, ok := findCompiler()
	if !ok {
		return "", unsupported("no C compiler (cc, gcc, clang) on PATH, which stepping a redis-server's clock needs")
	}
	// Compiled beside its place and moved there, so that whoever finds it finds all of it.
	part, err := os.CreateTemp(dir, "clock-*.part")
	if err != nil {
		return "", unsupported("compile the clock library: %w", err)
	}
	part.Close()
	defer os.Remove(part.Name())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// Without the C library by name and version: it is to be loaded beside a container's, too.
	cmd := exec.CommandContext(ctx, cc, "-std=c11", "-O2", "-fPIC", "-shared", "-nostdlib", "-o", part.Name(), "-x", "c", "-")
	cmd.Stdin = bytes.NewReader(clockSource)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", unsupported("%s cannot compile the clock library: %w: %s", cc, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(part.Name(), lib); err != nil {
		return "", unsupported("compile the clock library: %w", err)
	}
	return lib, nil
}

func findCompiler() (string, bool) {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// warp is how a clock is off, as clocklib.c reads it.
type warp struct {
	sequence uint64 // odd while the rest is being written
	offset   int64  // nanoseconds
	ppm      int64  // microseconds that the clock gains in a second
	since    int64  // when the rate was set, Unix time in nanoseconds
}

const clockFileSize = int(unsafe.Sizeof(warp{}))

// newClockFile makes a file for a clock that is right.
func newClockFile(path string) error {
	return os.WriteFile(path, make([]byte, clockFileSize), 0o600)
}

// stepClockFile adds d to the clock's offset.
func stepClockFile(path string, d time.Duration) error {
	return changeClockFile(path, func(w *warp) { w.offset += int64(d) })
}

// driftClockFile makes the clock run at a rate, and returns the rate that it had. The clock goes on from where it is.
func driftClockFile(path string, rate float64) (was float64, err error) {
	err = changeClockFile(path, func(w *warp) {
		was = 1 + float64(w.ppm)/1e6
		now := time.Now().UnixNano()
		passed := now - w.since
		w.offset += passed/1e6*w.ppm + passed%1e6*w.ppm/1e6
		w.ppm, w.since = int64(math.Round((rate-1)*1e6)), now
	})
	return was, err
}

// resetClockFile makes the clock right again.
func resetClockFile(path string) error {
	return changeClockFile(path, func(w *warp) { w.offset, w.ppm, w.since = 0, 0, 0 })
}

// changeClockFile changes what is in the file. It goes through a mapping, as the reader does: a write to the file might be
// seen half done.
func changeClockFile(path string, change func(*warp)) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	mem, err := syscall.Mmap(int(f.Fd()), 0, clockFileSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	shared := (*warp)(unsafe.Pointer(&mem[0]))
	changed := warp{offset: shared.offset, ppm: shared.ppm, since: shared.since}
	change(&changed)
	atomic.AddUint64(&shared.sequence, 1)
	atomic.StoreInt64(&shared.offset, changed.offset)
	atomic.StoreInt64(&shared.ppm, changed.ppm)
	atomic.StoreInt64(&shared.since, changed.since)
	atomic.AddUint64(&shared.sequence, 1)
	return syscall.Munmap(mem)
}
