package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

// withServer puts on PATH nothing but a redis-server that says it is of that version.
func withServer(t *testing.T, says string) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\necho '" + says + "'\n"
	must(t, os.WriteFile(filepath.Join(bin, "redis-server"), []byte(script), 0o700))
	t.Setenv("PATH", bin)
	withoutDocker(t)
}

// withoutDocker has no Docker engine answer.
func withoutDocker(t *testing.T) {
	t.Helper()
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none"))
}

func TestAutoWithoutDockerTakesRedisServerAndSaysWhy(t *testing.T) {
	path, ok := testenv.RedisServer(t)
	if !ok {
		return
	}
	withoutDocker(t)
	k, reason, err := Choose(t.Context(), "auto")
	must(t, err)
	if k != Process || !strings.HasPrefix(reason, "no Docker engine answers: ") || !strings.HasSuffix(reason, " at "+path) {
		t.Errorf("chose %v because %q", k, reason)
	}
}

func TestAutoFallsBackAndSaysWhy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	withoutDocker(t)
	k, reason, err := Choose(t.Context(), "auto")
	must(t, err)
	const want = ": no redis-server on PATH: embedded nodes (miniredis, in this process)"
	if k != Embedded || !strings.HasPrefix(reason, "no Docker engine answers: ") || !strings.HasSuffix(reason, want) {
		t.Errorf("chose %v because %q", k, reason)
	}
}

func TestOldServerIsNamedAndNotTaken(t *testing.T) {
	withServer(t, "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=a3fdef44459b3ad6")
	k, reason, err := Choose(t.Context(), "auto")
	must(t, err)
	if k != Embedded || !strings.Contains(reason, ": redis-server 6.0.16 at ") {
		t.Errorf("chose %v because %q", k, reason)
	}
	_, _, err = Choose(t.Context(), "process")
	mustBe(t, err, ErrUnsupported)
	mustSay(t, err, "is too old, 6.2 is the least")
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
}

func TestEnoughIsEnough(t *testing.T) {
	for _, says := range []string{
		"Redis server v=6.2.0 sha=0",
		"Redis server v=10.0.1 sha=0",
		"Valkey server v=8.0.1 sha=0",
		"Redis server v=7.9-rc1 sha=0",
	} {
		withServer(t, says)
		k, reason, err := Choose(t.Context(), "auto")
		must(t, err)
		if k != Process {
			t.Errorf("%q is not taken: %s", says, reason)
		}
	}
}

func TestServerThatSaysNoVersionIsNotTaken(t *testing.T) {
	withServer(t, "hello")
	_, _, err := Choose(t.Context(), "process")
	mustBe(t, err, ErrUnsupported)
}

func TestWhatIsAskedForByNameIsTaken(t *testing.T) {
	k, reason, err := Choose(t.Context(), "embedded")
	must(t, err)
	if k != Embedded || reason == "" {
		t.Errorf("chose %v because %q", k, reason)
	}
	t.Setenv("PATH", t.TempDir())
	_, _, err = Choose(t.Context(), "process")
	mustBe(t, err, ErrUnsupported)
	_, _, err = Choose(t.Context(), "nonsense")
	mustSay(t, err, `"nonsense"`)
}

func TestKindsHaveNames(t *testing.T) {
	for _, k := range []Kind{Docker, Process, Embedded} {
		got, err := ParseKind(k.String())
		must(t, err)
		if got != k {
			t.Errorf("%v parses as %v", k, got)
		}
	}
	if got := Kind(0).String(); got != "Kind(0)" {
		t.Errorf("Kind(0) is called %q", got)
	}
}
