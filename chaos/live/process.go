//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// processNode is a redis-server process.
type processNode struct {
	site
	port  int
	dir   string // its own folder: log, append-only file, clock
	setup *processSetup

	mu     sync.Mutex // held while the state changes
	proc   *child     // nil when down
	paused bool
	closed bool
}

// processSetup is what the nodes of one StartNodes share.
type processSetup struct {
	server      redisServer
	persistence Persistence
	dir         string // absolute
	clockLib    string // "" when there is none
	clockErr    error  // why there is none
}

func prepareProcess(ctx context.Context, c Config) (startNode, error) {
	server, err := findRedisServer(ctx)
	if err != nil {
		return nil, err
	}
	if c.Dir == "" {
		return nil, errors.New("no Dir to work in")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	s := &processSetup{server: server, persistence: c.Persistence, dir: dir}
	s.clockLib, s.clockErr = buildClock(ctx, dir)
	return s.start, nil
}

func (s *processSetup) start(ctx context.Context, name string) (Node, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(s.dir, name+"-")
	if err != nil {
		return nil, err
	}
	n := &processNode{site: site{name: name}, dir: dir, setup: s}
	err = newClockFile(n.clockFile())
	if err == nil {
		err = onFreePort(ctx, func(port int) error {
			n.port, n.addr = port, loopback(port)
			return n.launch(ctx)
		})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return n, nil
}

func (n *processNode) Name() string      { return n.name }
func (n *processNode) Addr() string      { return n.addr }
func (n *processNode) clockFile() string { return filepath.Join(n.dir, "clock") }
func (n *processNode) logFile() string   { return filepath.Join(n.dir, "redis.log") }

// args spells out every setting that a lock depends on, so that neither a configuration file nor the defaults of a
// version decide what a scenario shows.
func (n *processNode) args() []string {
	appendonly := "no"
	if n.setup.persistence == AOFAlways {
		appendonly = "yes"
	}
	return []string{
		"--port", strconv.Itoa(n.port),
		"--bind", "127.0.0.1",
		"--daemonize", "no",
		"--dir", n.dir,
		"--logfile", "", // standard output, where a complaint about the settings goes too
		"--save", "",
		"--appendonly", appendonly,
		"--appendfsync", "always",
		"--no-appendfsync-on-rewrite", "no",
		"--auto-aof-rewrite-percentage", "0",
		"--maxmemory", "0",
		"--maxmemory-policy", "noeviction",
	}
}

// launch starts the process and returns when it answers PING. The error wraps errPortTaken if somebody else has the port.
func (n *processNode) launch(ctx context.Context) error {
	log, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.setup.server.path, n.args()...)
	cmd.Stdout, cmd.Stderr = log, log
	if n.setup.clockLib != "" {
		// Spaces and colons separate the libraries of LD_PRELOAD, so it names this one from the folder that it is in.
		cmd.Dir = filepath.Dir(n.setup.clockLib)
		preload := "./" + filepath.Base(n.setup.clockLib)
		if others := os.Getenv("LD_PRELOAD"); others != "" {
			preload += ":" + others
		}
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+preload, clockFileVar+"="+n.clockFile())
	}
	proc, err := startChild(cmd)
	if err != nil {
		return err
	}
	if err := n.awaitReady(ctx, proc); err != nil {
		return errors.Join(n.explain(err), proc.kill(context.WithoutCancel(ctx)))
	}
	n.proc, n.paused = proc, false
	return nil
}

// awaitReady returns when proc, and not somebody else at its address, answers PING.
func (n *processNode) awaitReady(ctx context.Context, proc *child) error {
	if err := awaitPing(ctx, n.addr, proc.gone); err != nil {
		if proc.ended() {
			return fmt.Errorf("%s has ended: %v", n.setup.server, proc.exit)
		}
		return err
	}
	info, err := askNode(ctx, n.addr, "INFO", "server")
	if err != nil {
		return err
	}
	if !strings.Contains(strings.Join(info.text, "\n"), fmt.Sprintf("process_id:%d\r\n", proc.pid)) {
		return fmt.Errorf("%w: another server answers at %s", errPortTaken, n.addr)
	}
	return nil
}

// explain adds what the server itself had to say.
func (n *processNode) explain(err error) error {
	const last = 5
	log, readErr := os.ReadFile(n.logFile())
	if readErr != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	lines = lines[max(0, len(lines)-last):]
	for _, line := range lines {
		if strings.Contains(line, "Address already in use") {
			err = fmt.Errorf("%w: %w", errPortTaken, err)
			break
		}
	}
	return fmt.Errorf("%w; its log ends:\n\t%s", err, strings.Join(lines, "\n\t"))
}

// need fails unless the node runs or, if so asked, is paused. The caller holds mu.
func (n *processNode) need(op string, paused bool) error {
	switch {
	case n.closed:
		return fmt.Errorf("%s node %s: it is closed", op, n.name)
	case n.proc == nil:
		return fmt.Errorf("%s node %s: it is down", op, n.name)
	case n.proc.ended():
		return n.explain(fmt.Errorf("%s node %s: its process has ended by itself: %v", op, n.name, n.proc.exit))
	case n.paused && !paused:
		return fmt.Errorf("%s node %s: it is paused", op, n.name)
	case !n.paused && paused:
		return fmt.Errorf("%s node %s: it is not paused", op, n.name)
	}
	return nil
}

func (n *processNode) Kill(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("kill", n.paused); err != nil {
		return err
	}
	if err := n.proc.kill(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("kill node %s: %w", n.name, err)
	}
	n.proc, n.paused = nil, false
	return nil
}

func (n *processNode) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("restart node %s: it is closed", n.name)
	case n.proc != nil && !n.proc.ended():
		return fmt.Errorf("restart node %s: it is not down", n.name)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := onSamePort(ctx, func() error { return n.launch(ctx) }); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return nil
}

func (n *processNode) Pause(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("pause", false); err != nil {
		return err
	}
	n.paused = true // also if it fails half-way: Resume is then allowed
	if err := n.proc.stop(ctx); err != nil {
		return fmt.Errorf("pause node %s: %w", n.name, err)
	}
	return nil
}

func (n *processNode) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("resume", true); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := n.proc.signal(syscall.SIGCONT)
	if err == nil {
		n.paused = false
		err = awaitPing(ctx, n.addr, n.proc.gone)
	}
	if err != nil {
		return fmt.Errorf("resume node %s: %w", n.name, err)
	}
	return nil
}

func (n *processNode) StepClock(ctx context.Context, d time.Duration) (Proof, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("step the clock of", false); err != nil {
		return Proof{}, err
	}
	if n.setup.clockErr != nil {
		return Proof{}, fmt.Errorf("step the clock of node %s: %w", n.name, n.setup.clockErr)
	}
	return n.step(ctx, d, func(d time.Duration) error { return moveClockFile(n.clockFile(), d) })
}

func (n *processNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	var err error
	if n.proc != nil {
		err = n.proc.kill(context.Background())
		n.proc = nil
	}
	if err = errors.Join(err, os.RemoveAll(n.dir)); err != nil {
		return fmt.Errorf("close node %s: %w", n.name, err)
	}
	return nil
}
