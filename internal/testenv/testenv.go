// Package testenv tells tests what the machine they run on has. With Go alone the whole suite passes: a test that needs
// more asks here, and does nothing but log what is missing. With QUORUMLOCK_REQUIRE=1 in the environment, as in CI, what
// is missing is a failure, so that a test cannot go unrun unnoticed.
package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// RequireVar is the environment variable that, set to 1, turns what is missing into a failure.
const RequireVar = "QUORUMLOCK_REQUIRE"

// RedisServer is the path of redis-server. If ok is false the test has nothing to run on and returns.
func RedisServer(t testing.TB) (path string, ok bool) {
	t.Helper()
	return program(t, "redis-server")
}

// Compiler is the path of a C compiler. If ok is false the test has nothing to compile with and returns.
func Compiler(t testing.TB) (path string, ok bool) {
	t.Helper()
	return program(t, "cc", "gcc", "clang")
}

// Browser is the path of a Chromium. If ok is false the test has nothing to show a page in and returns.
func Browser(t testing.TB) (path string, ok bool) {
	t.Helper()
	return program(t, "chromium", "chromium-browser", "google-chrome")
}

// Docker is the path of a docker client whose engine answers. If ok is false the test has no containers and returns.
func Docker(t testing.TB) (path string, ok bool) {
	t.Helper()
	path, ok = program(t, "docker")
	if !ok {
		return "", false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err != nil {
		Missing(t, fmt.Sprintf("no Docker engine answers %s: %v: %s", path, err, out))
		return "", false
	}
	return path, true
}

// program is the path of the first of these programs that is on PATH.
func program(t testing.TB, names ...string) (string, bool) {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	Missing(t, fmt.Sprintf("none of %q is on PATH", names))
	return "", false
}

// Missing says that a test has nothing to run on, and why; it fails the test where that is demanded.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(RequireVar) == "1" {
		t.Fatalf("%s, and %s=1 demands it", what, RequireVar)
	}
	t.Logf("NOT TESTED: %s (%s=1 makes this a failure)", what, RequireVar)
}
