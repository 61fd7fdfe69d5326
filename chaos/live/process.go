//go:build unix

package live

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

func prepareProcess(ctx context.Context, c Config) (startNode, error) {
	server, err := findRedisServer(ctx)
	if err != nil {
		return nil, err
	}
	return prepareServers(ctx, c, server)
}

const preloadVar = "LD_PRELOAD"

// serverProcess is a redis-server as a process of the harness.
type serverProcess struct {
	*child
	logFile string
}

// run starts a process.
func (s redisServer) run(_ context.Context, l launch) (running, error) {
	// A file and not a pipe, which would want a goroutine to read it.
	log, err := os.OpenFile(l.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(s.path, l.args...)
	cmd.Dir, cmd.Env = l.dir, os.Environ()
	if preload := l.preload; preload != "" {
		if others := os.Getenv(preloadVar); others != "" {
			preload += ":" + others
		}
		cmd.Env = append(cmd.Env, preloadVar+"="+preload, l.env)
	}
	cmd.Stdout, cmd.Stderr = log, log
	proc, err := startChild(cmd)
	if err != nil {
		return nil, err
	}
	return serverProcess{proc, l.log}, nil
}

func (p serverProcess) done() <-chan struct{} { return p.gone }
func (p serverProcess) exit() error           { return p.child.exit }

func (p serverProcess) resume(context.Context) error { return p.signal(syscall.SIGCONT) }

func (p serverProcess) log() string {
	said, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	return string(said)
}
