//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// serverNode is a redis-server that the harness runs, wherever it runs.
type serverNode struct {
	site
	port  int
	dir   string // its own folder: append-only file, clock
	setup *serverSetup
	aof   *aof // nil without one

	mu       sync.Mutex // held while the state changes
	server   running    // nil when down
	paused   bool
	closed   bool
	replicas []*Replica // that were started, and end with it
}

// serverSetup is what the nodes of one prepare share.
type serverSetup struct {
	runner      runner
	persistence Persistence
	dir         string // absolute
	clockLib    string // "" when there is none
	clockErr    error  // why there is none
}

// A runner starts redis-servers in its way: for the server its folder is where the harness has it, and the loopback
// interface is the one that the harness has.
type runner interface {
	run(ctx context.Context, l launch) (running, error)
	String() string
}

// launch is a redis-server to be started.
type launch struct {
	node    string   // whose it is
	args    []string // beyond the name of the program
	log     string   // a file for what it says, if the runner wants one
	reach   string   // the folder that it needs to reach
	dir     string   // to run in; inside reach
	preload string   // a library; "" for none
	env     string   // a variable for that
}

// running is one redis-server that was started, until it has ended.
type running interface {
	// done is closed when it has ended and nothing of it is left but its log.
	done() <-chan struct{}
	// exit is how it ended; to be asked when done is closed.
	exit() error
	// kill ends it with SIGKILL and returns when it is gone. One that has ended already is no error.
	kill(ctx context.Context) error
	// stop returns when it stands still, resume when it has been told to go on.
	stop(ctx context.Context) error
	resume(ctx context.Context) error
	// log is what it has said.
	log() string
}

// hasEnded says whether a server has ended by itself.
func hasEnded(s running) bool {
	select {
	case <-s.done():
		return true
	default:
		return false
	}
}

// prepareServers returns what starts redis-servers by that runner.
func prepareServers(ctx context.Context, c Config, r runner) (startNode, error) {
	if c.Dir == "" {
		return nil, errors.New("no Dir to work in")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	s := &serverSetup{runner: r, persistence: c.Persistence, dir: dir}
	s.clockLib, s.clockErr = buildClock(ctx, dir)
	return s.start, nil
}

func (s *serverSetup) start(ctx context.Context, name string) (Node, error) {
	n, err := s.startServer(ctx, name)
	if err != nil {
		return nil, err // and no Node that is not nil
	}
	return n, nil
}

func (s *serverSetup) startServer(ctx context.Context, name string) (*serverNode, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(s.dir, name+"-")
	if err != nil {
		return nil, err
	}
	n := &serverNode{site: site{name: name}, dir: dir, setup: s}
	if s.persistence != None {
		n.aof = &aof{dir: dir}
	}
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

func (n *serverNode) clockFile() string { return filepath.Join(n.dir, "clock") }

// args spells out every setting that a lock depends on, so that neither a configuration file nor the defaults of a
// version decide what a scenario shows.
func (n *serverNode) args() []string {
	appendonly, appendfsync := "yes", "always"
	switch n.setup.persistence {
	case None:
		appendonly = "no"
	case AOFEverysec:
		appendfsync = "everysec"
	}
	return []string{
		"--port", strconv.Itoa(n.port),
		"--bind", "127.0.0.1",
		"--daemonize", "no",
		"--dir", n.dir,
		"--logfile", "", // standard output, where a complaint about the settings goes too
		"--save", "",
		"--appendonly", appendonly,
		"--appendfsync", appendfsync,
		"--no-appendfsync-on-rewrite", "no",
		"--auto-aof-rewrite-percentage", "0",
		"--aof-load-truncated", "yes",
		"--maxmemory", "0",
		"--maxmemory-policy", "noeviction",
		"--repl-diskless-sync", "yes",
		"--repl-diskless-sync-delay", "0",
	}
}

// launch starts the server and returns when it answers PING. The error wraps errPortTaken if somebody else has the port.
func (n *serverNode) launch(ctx context.Context) error {
	l := launch{node: n.name, args: n.args(), log: filepath.Join(n.dir, "redis.log"), reach: n.setup.dir, dir: n.dir}
	if n.setup.clockLib != "" {
		// Spaces and colons separate the libraries of LD_PRELOAD, so it names this one from the folder that it is in.
		l.dir = filepath.Dir(n.setup.clockLib)
		l.preload, l.env = "./"+filepath.Base(n.setup.clockLib), clockFileVar+"="+n.clockFile()
	}
	server, err := n.setup.runner.run(ctx, l)
	if err != nil {
		return err
	}
	err = n.awaitReady(ctx, server)
	if err == nil && n.aof != nil {
		err = n.aof.watch()
	}
	if err != nil {
		return errors.Join(explain(err, server), server.kill(context.WithoutCancel(ctx)))
	}
	n.server, n.paused = server, false
	return nil
}

// awaitReady returns when this server, and not somebody else at its address, answers PING.
func (n *serverNode) awaitReady(ctx context.Context, server running) error {
	if err := awaitPing(ctx, n.addr, server.done()); err != nil {
		if hasEnded(server) {
			return fmt.Errorf("%s has ended: %v", n.setup.runner, server.exit())
		}
		return err
	}
	dir, err := n.setting(ctx, "dir")
	if err != nil {
		return err
	}
	if dir != n.dir {
		return fmt.Errorf("%w: another server answers at %s", errPortTaken, n.addr)
	}
	return nil
}

// explain adds what the server itself had to say.
func explain(err error, server running) error {
	const last = 5
	said := server.log()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	lines = lines[max(0, len(lines)-last):]
	if strings.Contains(said, "Address already in use") {
		err = fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return fmt.Errorf("%w; its log ends:\n\t%s", err, strings.Join(lines, "\n\t"))
}

// need fails unless the node runs or, if so asked, is paused. The caller holds mu.
func (n *serverNode) need(op string, paused bool) error {
	switch {
	case n.closed:
		return fmt.Errorf("%s node %s: it is closed", op, n.name)
	case n.server == nil:
		return fmt.Errorf("%s node %s: it is down", op, n.name)
	case hasEnded(n.server):
		return explain(fmt.Errorf("%s node %s: it has ended by itself: %v", op, n.name, n.server.exit()), n.server)
	case n.paused && !paused:
		return fmt.Errorf("%s node %s: it is paused", op, n.name)
	case !n.paused && paused:
		return fmt.Errorf("%s node %s: it is not paused", op, n.name)
	}
	return nil
}

func (n *serverNode) Kill(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("kill", n.paused); err != nil {
		return err
	}
	return n.kill(ctx)
}

// kill ends the server. The caller holds mu.
func (n *serverNode) kill(ctx context.Context) error {
	if n.aof != nil {
		n.aof.unwatch()
	}
	if err := n.server.kill(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("kill node %s: %w", n.name, err)
	}
	n.server, n.paused = nil, false
	return nil
}

func (n *serverNode) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("restart node %s: it is closed", n.name)
	case n.server != nil && !hasEnded(n.server):
		return fmt.Errorf("restart node %s: it is not down", n.name)
	case n.server != nil:
		// It has ended by itself; a container of that kind is still to be removed.
		if err := n.kill(ctx); err != nil {
			return err
		}
	}
	return n.restart(ctx)
}

// restart starts the server again. The caller holds mu.
func (n *serverNode) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := onSamePort(ctx, n.addr, func() error { return n.launch(ctx) }); err != nil {
		return fmt.Errorf("restart node %s: %w", n.name, err)
	}
	return nil
}

func (n *serverNode) Pause(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("pause", false); err != nil {
		return "", err
	}
	n.paused = true // also if it fails half-way: Resume is then allowed
	if err := n.server.stop(ctx); err != nil {
		return "", fmt.Errorf("pause node %s: %w", n.name, err)
	}
	return n.proveSilence(ctx)
}

func (n *serverNode) Resume(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("resume", true); err != nil {
		return err
	}
	return n.resume(ctx)
}

// resume lets a paused server go on. The caller holds mu.
func (n *serverNode) resume(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := n.server.resume(ctx)
	if err == nil {
		n.paused = false
		err = awaitPing(ctx, n.addr, n.server.done())
	}
	if err != nil {
		return fmt.Errorf("resume node %s: %w", n.name, err)
	}
	return nil
}

func (n *serverNode) StepClock(ctx context.Context, d time.Duration) (Proof, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.needClock("step the clock of"); err != nil {
		return Proof{}, err
	}
	return n.step(ctx, d, func(d time.Duration) error { return stepClockFile(n.clockFile(), d) })
}

func (n *serverNode) Drift(ctx context.Context, rate float64) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.needClock("slow down the clock of"); err != nil {
		return "", err
	}
	return n.drift(ctx, rate, func(rate float64) (float64, error) { return driftClockFile(n.clockFile(), rate) })
}

// needClock fails unless the node runs and its clock is in our hands.
func (n *serverNode) needClock(op string) error {
	if err := n.need(op, false); err != nil {
		return err
	}
	if n.setup.clockErr != nil {
		return fmt.Errorf("%s node %s: %w", op, n.name, n.setup.clockErr)
	}
	return nil
}

func (n *serverNode) FlushAll(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("flush", false); err != nil {
		return "", err
	}
	return n.flush(ctx)
}

func (n *serverNode) Evict(ctx context.Context, policy string, keys ...string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.need("evict from", false); err != nil {
		return "", err
	}
	return n.evict(ctx, policy, keys)
}

func (n *serverNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	err := n.closeReplicas()
	if n.server != nil {
		err = errors.Join(err, n.kill(context.Background()))
	}
	if err = errors.Join(err, os.RemoveAll(n.dir)); err != nil {
		return fmt.Errorf("close node %s: %w", n.name, err)
	}
	return nil
}
