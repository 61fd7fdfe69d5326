//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

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
	// done is closed when it has ended, by itself or by kill.
	done() <-chan struct{}
	// exit is how it ended; to be asked when done is closed.
	exit() error
	// kill ends it with SIGKILL and returns when nothing of it is left. One that has ended already is no error.
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
	version, err := n.info(ctx, "server", "redis_version")
	if err != nil {
		return err
	}
	return checkVersion(n.setup.runner, version)
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
