package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that notes what is said to it.
type recorder struct {
	testing.TB
	said   string
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Logf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Logf(format, args...)
	r.failed = true
	runtime.Goexit()
}

// watch runs ask as a test of its own would.
func watch(t *testing.T, ask func(testing.TB) (string, bool)) (path string, ok bool, r *recorder) {
	r = &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		path, ok = ask(r)
	}()
	<-done
	return path, ok, r
}

var asks = map[string]func(testing.TB) (string, bool){
	"redis-server": RedisServer, "gcc": Compiler, "docker": Docker, "chromium": Browser,
}

func TestWhatIsMissingIsLogged(t *testing.T) {
	t.Setenv(RequireVar, "")
	t.Setenv("PATH", t.TempDir())
	for name, ask := range asks {
		_, ok, r := watch(t, ask)
		if ok || r.failed || !strings.HasPrefix(r.said, "NOT TESTED: ") || !strings.Contains(r.said, name) {
			t.Errorf("%s: ok %v, failed %v, said %q", name, ok, r.failed, r.said)
		}
	}
}

func TestWhatIsMissingAndRequiredFails(t *testing.T) {
	t.Setenv(RequireVar, "1")
	t.Setenv("PATH", t.TempDir())
	for name, ask := range asks {
		if _, _, r := watch(t, ask); !r.failed || !strings.Contains(r.said, name) {
			t.Errorf("%s: failed %v, said %q", name, r.failed, r.said)
		}
	}
}

func TestWhatIsThereIsFound(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for name, ask := range asks {
		want := filepath.Join(bin, name)
		if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if path, ok, r := watch(t, ask); !ok || path != want || r.said != "" {
			t.Errorf("%s: %q, %v, said %q", name, path, ok, r.said)
		}
	}
}

func TestDockerWithoutItsEngineIsMissing(t *testing.T) {
	t.Setenv(RequireVar, "")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	script := "#!/bin/sh\necho cannot connect >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok, r := watch(t, Docker); ok || !strings.Contains(r.said, "cannot connect") {
		t.Errorf("ok %v, said %q", ok, r.said)
	}
}
