package live

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
)

func TestStartedNodesAnswerEachForItself(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		c.N = 5
		nodes := startNodes(t, c)
		for i, n := range nodes {
			if want := string(rune('A' + i)); n.Name() != want {
				t.Errorf("node %d is called %q, want %q", i, n.Name(), want)
			}
			command(t, n.Addr(), "SET", "who", n.Name())
		}
		for _, n := range nodes {
			if got := command(t, n.Addr(), "GET", "who"); got != n.Name() {
				t.Errorf("node %s says it is %q", n.Name(), got)
			}
		}
	})
}

func TestKilledNodeComesBackEmptyOnTheSamePort(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		addr := n.Addr()
		command(t, addr, "SET", "lock", "1")
		sha := command(t, addr, "SCRIPT", "LOAD", "return 1")
		must(t, n.Kill(ctx))
		if _, err := n.Time(ctx); err == nil {
			t.Error("a killed node tells the time")
		}
		must(t, n.Restart(ctx))
		if n.Addr() != addr {
			t.Errorf("address %s, was %s", n.Addr(), addr)
		}
		if got := command(t, addr, "EXISTS", "lock"); got != "0" {
			t.Errorf("EXISTS says %s, want nothing to be left", got)
		}
		if got := command(t, addr, "SCRIPT", "EXISTS", sha); got != "0" {
			t.Errorf("SCRIPT EXISTS says %s, want the scripts to be forgotten", got)
		}
	})
}

func TestKilledNodeWithAOFKeepsWhatItAnsweredAndForgetsScripts(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		c.Persistence = AOFAlways
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		for round := range 3 {
			command(t, n.Addr(), "INCR", "counter")
			command(t, n.Addr(), "SET", "lease", "1", "PX", "600000")
			sha := command(t, n.Addr(), "SCRIPT", "LOAD", "return 1")
			must(t, n.Kill(ctx))
			must(t, n.Restart(ctx))
			if got, want := command(t, n.Addr(), "GET", "counter"), string(rune('1'+round)); got != want {
				t.Errorf("round %d: the counter is %s, want %s", round, got, want)
			}
			if got := command(t, n.Addr(), "SCRIPT", "EXISTS", sha); got != "0" {
				t.Errorf("SCRIPT EXISTS says %s, want the scripts to be forgotten", got)
			}
			if got := pttl(t, n, "lease"); got > 600*time.Second || got < 500*time.Second {
				t.Errorf("%v are left, want nearly 600 s", got)
			}
		}
	})
}

func TestLeaseRunsOutByItself(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		command(t, n.Addr(), "SET", "lock", "1", "PX", "50")
		eventually(t, "the key expires", func() bool { return command(t, n.Addr(), "EXISTS", "lock") == "0" })
	})
}

func TestLeaseRunsOutWhileTheNodeIsDown(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		c.Persistence = AOFAlways
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		command(t, n.Addr(), "SET", "long", "1", "PX", "600000")
		command(t, n.Addr(), "SET", "short", "1", "PX", "200")
		must(t, n.Kill(ctx))
		<-time.After(200 * time.Millisecond)
		must(t, n.Restart(ctx))
		if got := command(t, n.Addr(), "EXISTS", "short"); got != "0" {
			t.Error("the lease has stood still while the node was down")
		}
		if got := command(t, n.Addr(), "EXISTS", "long"); got != "1" {
			t.Error("the long lease is gone")
		}
	})
}

// needsClock says whether the clocks of these nodes can be stepped on this machine.
func needsClock(t *testing.T, c Config) bool {
	t.Helper()
	if c.Kind == Embedded {
		return true
	}
	_, ok := testenv.Compiler(t)
	return ok
}

func TestStepForwardEndsALease(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		command(t, n.Addr(), "SET", "lock", "1", "PX", "30000")
		command(t, n.Addr(), "SET", "longer", "1", "PX", "3600000")
		p, err := n.StepClock(ctx, time.Minute)
		must(t, err)
		t.Log(p)
		if got := command(t, n.Addr(), "EXISTS", "lock"); got != "0" {
			t.Error("the lease of 30 s is still there after a minute")
		}
		if got := command(t, n.Addr(), "EXISTS", "longer"); got != "1" {
			t.Error("the lease of an hour is gone after a minute")
		}
		if d := p.After.Sub(p.Before); d < time.Minute-stepSlack {
			t.Errorf("TIME moved by %v", d)
		}
		now, err := n.Time(ctx)
		must(t, err)
		if d := time.Until(now); d < 50*time.Second {
			t.Errorf("the node is %v ahead of us, want about a minute", d)
		}
	})
}

func TestStepBackMakesALeaseLonger(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		command(t, n.Addr(), "SET", "lock", "1", "PX", "500000")
		_, err := n.StepClock(ctx, -5*time.Minute)
		must(t, err)
		if got := pttl(t, n, "lock"); got > 800*time.Second || got < 700*time.Second {
			t.Errorf("%v are left, want nearly 800 s", got)
		}
		_, err = n.StepClock(ctx, 10*time.Minute)
		must(t, err)
		if got := pttl(t, n, "lock"); got > 200*time.Second || got < 100*time.Second {
			t.Errorf("%v are left, want nearly 200 s", got)
		}
	})
}

func TestSmallStepIsProved(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		for _, d := range []time.Duration{500 * time.Millisecond, -500 * time.Millisecond} {
			p, err := n.StepClock(bounded(t), d)
			must(t, err)
			if off := (p.Moved - d).Abs(); off > d.Abs()/2 {
				t.Errorf("asked for %v, got %v", d, p)
			}
		}
	})
}

func TestStepTooSmallToProveIsRefused(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		for _, d := range []time.Duration{0, time.Millisecond, -time.Millisecond} {
			_, err := n.StepClock(bounded(t), d)
			mustBe(t, err, ErrUnsupported)
		}
	})
}

func TestClockStaysWrongAcrossRestart(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		_, err := n.StepClock(ctx, time.Hour)
		must(t, err)
		must(t, n.Kill(ctx))
		must(t, n.Restart(ctx))
		now, err := n.Time(ctx)
		must(t, err)
		if d := time.Until(now); d < 59*time.Minute {
			t.Errorf("the node is %v ahead of us, want about an hour", d)
		}
		command(t, n.Addr(), "SET", "lock", "1", "PX", "600000")
		if got := command(t, n.Addr(), "EXISTS", "lock"); got != "1" {
			t.Error("a lease taken after the restart is gone at once")
		}
	})
}

func TestStepOfOneClockLeavesTheOthers(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		if !needsClock(t, c) {
			return
		}
		c.N = 2
		nodes := startNodes(t, c)
		ctx := bounded(t)
		_, err := nodes[0].StepClock(ctx, time.Hour)
		must(t, err)
		now, err := nodes[1].Time(ctx)
		must(t, err)
		if d := time.Until(now).Abs(); d > time.Minute {
			t.Errorf("node B is %v off", d)
		}
	})
}

func TestFaultOnANodeInTheWrongStateIsAnError(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		mustSay(t, n.Restart(ctx), "not down")
		must(t, n.Kill(ctx))
		mustSay(t, n.Kill(ctx), "is down")
		_, err := n.StepClock(ctx, time.Minute)
		mustSay(t, err, "is down")
		must(t, n.Close())
		must(t, n.Close())
		mustSay(t, n.Restart(ctx), "is closed")
		mustSay(t, n.Kill(ctx), "is closed")
	})
}

func TestCloseFreesThePortAndDeletesTheData(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		c.N, c.Persistence = 3, AOFAlways
		nodes := startNodes(t, c)
		for _, n := range nodes {
			command(t, n.Addr(), "SET", "lock", "1")
			must(t, n.Close())
			l, err := net.Listen("tcp", n.Addr())
			must(t, err)
			l.Close()
		}
		left, err := os.ReadDir(c.Dir)
		must(t, err)
		for _, f := range left {
			if f.IsDir() {
				t.Errorf("%s is left behind", f.Name())
			}
		}
	})
}

func TestRestartWaitsForItsPort(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		n := startNodes(t, c)[0]
		ctx := bounded(t)
		must(t, n.Kill(ctx))
		thief, err := net.Listen("tcp", n.Addr())
		must(t, err)
		defer thief.Close()
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		mustBe(t, n.Restart(short), errPortTaken)
		back := make(chan error)
		go func() { back <- n.Restart(ctx) }()
		thief.Close()
		must(t, <-back)
		command(t, n.Addr(), "PING")
	})
}

func TestStartIsAllOrNothing(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		leavesNoGoroutine(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.N = 3
		nodes, err := StartNodes(ctx, c)
		mustBe(t, err, context.Canceled)
		if nodes != nil {
			t.Errorf("got %d nodes beside the error", len(nodes))
		}
	})
}

func TestSenselessConfigIsRefused(t *testing.T) {
	for _, c := range []Config{
		{},
		{Kind: Embedded},
		{Kind: Embedded, N: -1},
		{Kind: Embedded, N: 27},
		{Kind: 99, N: 1},
		{Kind: Embedded, N: 1, Persistence: 99},
		{Kind: Process, N: 1},
	} {
		if _, err := StartNodes(bounded(t), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestProofReadsAsOneLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	p := Proof{Before: at, After: at.Add(time.Minute + time.Millisecond), Moved: time.Minute}
	if got, want := p.String(), "TIME 03:04:05.678 -> 03:05:05.679 (moved +60.000 s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
