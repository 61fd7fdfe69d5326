package live

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"time"
)

// The oldest Redis that the locks under test are made for.
const leastMajor, leastMinor = 6, 2

// redisServer is a redis-server program.
type redisServer struct{ path, version string }

func (s redisServer) String() string { return fmt.Sprintf("redis-server %s at %s", s.version, s.path) }

// redisServerAvailable is one line that names the program, or says why there is none to use.
func redisServerAvailable(ctx context.Context) (string, error) {
	s, err := findRedisServer(ctx)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// findRedisServer finds the redis-server on PATH. The error wraps ErrUnsupported.
func findRedisServer(ctx context.Context) (redisServer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return redisServer{}, unsupported("no redis-server on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return redisServer{}, unsupported("%s --version fails: %w", path, err)
	}
	version, ok := parseVersion(string(out))
	if !ok {
		return redisServer{}, unsupported("%s --version says no version", path)
	}
	s := redisServer{path: path, version: version}
	return s, checkVersion(s, version)
}

// checkVersion fails if a server of that version is too old. The error wraps ErrUnsupported.
func checkVersion(server fmt.Stringer, version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return unsupported("%s: version %q says nothing", server, version)
	}
	if major < leastMajor || major == leastMajor && minor < leastMinor {
		return unsupported("%s: version %s is too old, %d.%d is the least", server, version, leastMajor, leastMinor)
	}
	return nil
}

var versionPattern = regexp.MustCompile(`\bv=(\d{1,6}\.\d{1,6}\S*)`)

// parseVersion reads what redis-server --version prints, such as "Redis server v=7.0.15 sha=00000000:0 ...".
func parseVersion(line string) (version string, ok bool) {
	m := versionPattern.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// unsupportedError reads as its text alone, one line that needs no prefix, and is ErrUnsupported.
type unsupportedError struct{ error }

func (e unsupportedError) Is(target error) bool { return target == ErrUnsupported }
func (e unsupportedError) Unwrap() error        { return e.error }

func unsupported(format string, args ...any) error {
	return unsupportedError{fmt.Errorf(format, args...)}
}
