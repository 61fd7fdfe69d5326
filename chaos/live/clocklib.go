//go:build unix

package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
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
	cmd := exec.CommandContext(ctx, cc, "-std=c11", "-O2", "-fPIC", "-shared", "-o", part.Name(), "-x", "c", "-")
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

const clockFileSize = 8 // an int64: nanoseconds to add to the wall clock

// newClockFile makes a file for a clock that is right.
func newClockFile(path string) error {
	return os.WriteFile(path, make([]byte, clockFileSize), 0o600)
}

// moveClockFile adds d to the clock's offset. It goes through a mapping, as the reader does: a write to the file might
// be seen half done.
func moveClockFile(path string, d time.Duration) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	mem, err := syscall.Mmap(int(f.Fd()), 0, clockFileSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	atomic.AddInt64((*int64)(unsafe.Pointer(&mem[0])), int64(d))
	return syscall.Munmap(mem)
}
