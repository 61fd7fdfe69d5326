package live

import (
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// theirs starts five servers as somebody else would, with a password and a database, and returns their URLs and what
// asks the first.
func theirs(t *testing.T) (urls []string, first Node, ok bool) {
	t.Helper()
	if !hasKind(t, Process) {
		return nil, nil, false
	}
	for _, n := range startNodes(t, Config{Kind: Process, N: 5, Dir: t.TempDir()}) {
		command(t, n.Addr(), "CONFIG", "SET", "requirepass", "s3cret")
		urls = append(urls, "redis://:s3cret@"+n.Addr()+"/3")
	}
	n, err := newExisting(urls[0])
	must(t, err)
	return urls, n, true
}

func TestExistingMastersServeARunAndLoseNothingButItsKeys(t *testing.T) {
	urls, first, ok := theirs(t)
	if !ok {
		return
	}
	ctx := bounded(t)
	k, reason, err := Choose(ctx, strings.Join(urls, ","))
	must(t, err)
	if k != Existing || strings.Contains(reason, "s3cret") {
		t.Errorf("chose %v because %q", k, reason)
	}
	_, err = first.Ask(ctx, "SET", "quorumlock-chaos", "theirs")
	must(t, err)
	p := newPool(t, Config{Kind: Existing, URLs: urls})
	if warning := p.Warning(); !strings.Contains(warning, p.Lock()) || strings.Contains(warning, "s3cret") {
		t.Errorf("the warning is %q", warning)
	}
	sc, err := scenarios.ByName("gc-pause")
	must(t, err)
	for _, scheme := range []string{"single", "redlock"} {
		sm, err := schemes.ByName(scheme)
		must(t, err)
		result, err := Play(ctx, Run{Pool: p, Scenario: sc, Scheme: sm, Guard: chaos.GuardAll, Each: func(e chaos.Event) {
			if e.Kind == chaos.Left {
				keys, err := first.Ask(ctx, "KEYS", "*"+p.Lock()+"*")
				if err != nil || len(keys) == 0 {
					t.Errorf("there are no keys with the run's own name: %q, %v", keys, err)
				}
			}
		}})
		must(t, err)
		if result.Err != nil || !result.Available || result.Verdict.Outcome != chaos.Holds {
			t.Errorf("%+v, not reached because of: %v\n%s", result.Verdict, result.Err, story(result.History))
		}
		keys, err := first.Ask(ctx, "KEYS", "*")
		must(t, err)
		if len(keys) != 1 || keys[0] != "quorumlock-chaos" {
			t.Errorf("in the end there are the keys %q, want theirs alone", keys)
		}
	}
}

func TestFaultOfAnExistingMasterIsUnsupportedAndLeavesTheRunUnreached(t *testing.T) {
	urls, _, ok := theirs(t)
	if !ok {
		return
	}
	ctx := bounded(t)
	p := newPool(t, Config{Kind: Existing, URLs: urls})
	n := take(t, p, 1, None)[0]
	for op, fault := range map[string]func() error{
		"kill":      func() error { return n.Kill(ctx) },
		"restart":   func() error { return n.Restart(ctx) },
		"power":     func() error { _, err := n.PowerLoss(ctx); return err },
		"pause":     func() error { _, err := n.Pause(ctx); return err },
		"resume":    func() error { return n.Resume(ctx) },
		"step":      func() error { _, err := n.StepClock(ctx, time.Minute); return err },
		"slow down": func() error { _, err := n.Drift(ctx, 0.5); return err },
		"flush":     func() error { _, err := n.FlushAll(ctx); return err },
		"evict":     func() error { _, err := n.Evict(ctx, "allkeys-lru", "lock"); return err },
		"replicate": func() error { _, err := n.StartReplica(ctx); return err },
	} {
		err := fault()
		mustBe(t, err, ErrUnsupported)
		mustSay(t, err, op)
	}
	sc, err := scenarios.ByName("clock-jump")
	must(t, err)
	sm, err := schemes.ByName("redlock")
	must(t, err)
	result, err := Play(ctx, Run{Pool: p, Scenario: sc, Scheme: sm, Guard: chaos.GuardNone})
	must(t, err)
	mustBe(t, result.Err, ErrUnsupported)
	if result.Verdict.Outcome != chaos.Unreached {
		t.Errorf("%+v", result.Verdict)
	}
}

func TestUnfitExistingMastersAreRefusedWithoutShowingTheirPasswords(t *testing.T) {
	urls, _, ok := theirs(t)
	if !ok {
		return
	}
	list := strings.Join(urls, ",")
	for _, want := range []string{
		urls[0],                  // too few
		list[:len(list)-1] + "x", // no database
		strings.Join(urls[:4], ",") + "," + urls[0], // the same twice
		strings.Replace(list, "redis:", "rediss:", 1),
		strings.Replace(list, "s3cret", "s3cret2", 1),
		strings.Replace(list, "127.0.0.1:", "127.0.0.1:x", 1),
		list + ",http://:s3cret@localhost",
		list + ",",
	} {
		_, _, err := Choose(bounded(t), want)
		if err == nil {
			t.Errorf("%s is accepted", want)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
