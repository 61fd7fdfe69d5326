package redlock_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A service that uses the lock should not get more with it than the lock needs.
func TestTheLockNeedsNothingButGoRedisAndGoMultierror(t *testing.T) {
	needs := func(packages ...string) []string {
		t.Helper()
		args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)
		out, err := exec.Command("go", args...).Output()
		must(t, err)
		return strings.Fields(string(out))
	}
	allowed := needs("github.com/redis/go-redis/v9", "github.com/redis/go-redis/v9/maintnotifications",
		"github.com/hashicorp/go-multierror")
	const module = "github.com/b6e7cabe/quorumlock/"
	allowed = append(allowed, module+"clock", module+"quorum", module+"redlock")
	needed := needs(module+"redlock", module+"quorum", module+"clock")
	for _, path := range needed {
		if !slices.Contains(allowed, path) {
			t.Errorf("the lock needs %s", path)
		}
	}
	if !slices.Contains(needed, module+"redlock") {
		t.Errorf("go list says nothing of the lock: %q", needed)
	}
	for _, lower := range []string{"quorum", "clock"} {
		if got := needs(module + lower); !slices.Equal(got, []string{module + lower}) {
			t.Errorf("%s needs %q", lower, got)
		}
	}
}
