//go:build unix

package live

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// newPool returns a pool that leaves nothing behind.
func newPool(t *testing.T, c Config) *Pool {
	t.Helper()
	leavesNoGoroutine(t)
	p := NewPool(c)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func take(t *testing.T, p *Pool, n int, persistence Persistence) []Node {
	t.Helper()
	nodes, err := p.Take(bounded(t), n, persistence)
	must(t, err)
	return nodes
}

func TestNodesThatAreGivenBackComeAgainAsGoodAsNew(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		p := newPool(t, c)
		ctx := bounded(t)
		nodes := take(t, p, 3, AOFAlways)
		if needsClock(t, c) {
			_, err := nodes[0].StepClock(ctx, time.Hour)
			must(t, err)
			proved(t)(nodes[0].Drift(ctx, 0.5))
		}
		for _, n := range nodes {
			command(t, n.Addr(), "SET", "lock", "1")
		}
		sha := command(t, nodes[0].Addr(), "SCRIPT", "LOAD", "return 1")
		proved(t)(nodes[1].Pause(ctx))
		must(t, nodes[2].Kill(ctx))
		must(t, nodes[2].Restart(ctx))
		must(t, p.Give(nodes))

		again := take(t, p, 5, AOFAlways)
		for i, n := range again {
			if i < len(nodes) && n != nodes[i] {
				t.Errorf("node %s is another one", n.Name())
			}
			if got := command(t, n.Addr(), "DBSIZE"); got != "0" {
				t.Errorf("node %s has %s keys", n.Name(), got)
			}
			now, err := n.Time(ctx)
			must(t, err)
			if off := time.Until(now).Abs(); off > time.Minute {
				t.Errorf("node %s is off by %v", n.Name(), off)
			}
		}
		if got := command(t, again[0].Addr(), "SCRIPT", "EXISTS", sha); got != "0" {
			t.Error("a script is still known")
		}
	})
}

func TestNodeThatIsDownIsNotKept(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		p := newPool(t, c)
		nodes := take(t, p, 2, None)
		must(t, nodes[0].Kill(bounded(t)))
		must(t, p.Give(nodes))
		again := take(t, p, 2, None)
		if again[0] == nodes[0] || again[1] != nodes[1] {
			t.Error("want another A and the same B")
		}
		command(t, again[0].Addr(), "PING")
		mustSay(t, nodes[0].Restart(bounded(t)), "is closed")
	})
}

func TestNodeThatCannotBeMadeRightIsNotKept(t *testing.T) {
	if !hasKind(t, Process) || !needsClock(t, Config{Kind: Process}) {
		return
	}
	p := newPool(t, Config{Kind: Process, Dir: t.TempDir()})
	nodes := take(t, p, 1, None)
	_, err := nodes[0].StepClock(bounded(t), time.Hour)
	must(t, err)
	// The server goes on reading the file that it has.
	file := nodes[0].(*serverNode).clockFile()
	must(t, os.Remove(file))
	must(t, newClockFile(file))
	must(t, p.Give(nodes))
	n := take(t, p, 1, None)[0]
	now, err := n.Time(bounded(t))
	must(t, err)
	if off := time.Until(now); n == nodes[0] || off > time.Minute {
		t.Errorf("a node that is %v ahead is handed out", off)
	}
}

func TestNodesInUseAndOfAnotherPersistenceAreNotShared(t *testing.T) {
	p := newPool(t, Config{Kind: Embedded})
	seen := map[string]bool{}
	for _, persistence := range []Persistence{None, None, AOFAlways} {
		for _, n := range take(t, p, 2, persistence) {
			if seen[n.Addr()] {
				t.Errorf("%s at %s is taken already", n.Name(), n.Addr())
			}
			seen[n.Addr()] = true
		}
	}
}

func TestWhatWasReadBeforeAResetIsNotBroughtBackByAPowerLoss(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if c.Kind == Embedded {
			return
		}
		p := newPool(t, c)
		nodes := take(t, p, 1, AOFEverysec)
		command(t, nodes[0].Addr(), "SET", "former", "1")
		must(t, p.Give(nodes))
		n := take(t, p, 1, AOFEverysec)[0]
		command(t, n.Addr(), "SET", "lock", "1")
		proved(t)(n.PowerLoss(bounded(t)))
		if got := command(t, n.Addr(), "DBSIZE"); got != "0" {
			t.Errorf("it has %s keys", got)
		}
	})
}

func TestConnectionOfAFormerRunIsClosed(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		p := newPool(t, c)
		nodes := take(t, p, 1, None)
		conn, err := net.Dial("tcp", nodes[0].Addr())
		must(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, encode("PING"))
		must(t, err)
		must(t, p.Give(nodes))
		must(t, conn.SetReadDeadline(time.Now().Add(hang)))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("it is still open")
		}
	})
}

func TestClosedPoolLeavesNothingAndGivesNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		p := newPool(t, c)
		idle, out := take(t, p, 2, None), take(t, p, 2, None)
		must(t, p.Give(idle))
		must(t, p.Close())
		for _, n := range append(idle, out...) {
			must(t, probePort(n.Addr()))
		}
		left, err := os.ReadDir(c.Dir)
		must(t, err)
		for _, f := range left {
			if f.IsDir() {
				t.Errorf("%s is left behind", f.Name())
			}
		}
		must(t, p.Give(out))
		_, err = p.Take(bounded(t), 1, None)
		mustSay(t, err, "the pool is closed")
	})
}

func TestRunsOfOnePoolDoNotSeeEachOther(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		p := newPool(t, c)
		var addr string
		for range 2 {
			sc, err := scenarios.ByName("crash-aof")
			must(t, err)
			sm, err := schemes.ByName("redlock")
			must(t, err)
			result, err := Play(bounded(t), Run{Pool: p, Scenario: sc, Scheme: sm, Guard: chaos.GuardNone})
			must(t, err)
			if result.Err != nil || result.Verdict.Outcome != chaos.Holds {
				t.Fatalf("%+v, not reached because of: %v\n%s", result.Verdict, result.Err, story(result.History))
			}
			nodes := take(t, p, 1, AOFAlways)
			if addr != "" && addr != nodes[0].Addr() {
				t.Error("the second run had other nodes")
			}
			addr = nodes[0].Addr()
			must(t, p.Give(nodes))
		}
	})
}
