package live

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// inTurn has two clients take the lock in turn, and ask for it while the other has it. The lease is long, so that it is
// the release that lets the other in.
var inTurn = chaos.Scenario{
	Name: "in-turn",
	TTL:  time.Minute,
	Play: func(s *chaos.Stage) {
		one, two := s.Client(1), s.Client(2)
		one.Acquire()
		one.Check()
		two.TryAcquire()
		one.Leave()
		two.Leave() // if it was let in
		two.Acquire()
		two.Check()
		one.TryAcquire()
		two.Leave()
	},
}

func TestEverySchemeTakesTurnsBetweenProcesses(t *testing.T) {
	for _, scheme := range schemes.All() {
		t.Run(scheme.Name, func(t *testing.T) {
			result, err := Play(bounded(t), Run{Pool: newPool(t, Config{Kind: Embedded}), Scenario: inTurn, Scheme: scheme, Guard: chaos.GuardNone})
			if err != nil {
				t.Fatal(err)
			}
			want := chaos.Holds
			if scheme.Name == "local-mutex" {
				want = chaos.Breaks
			}
			if result.Err != nil || !result.Available || result.Verdict.Outcome != want {
				t.Errorf("%+v, not reached because of: %v, available afterwards: %v\n%s",
					result.Verdict, result.Err, result.Available, story(result.History))
			}
			var last redlock.Token
			for _, e := range result.History {
				if e.Kind == chaos.Acquired {
					if last != 0 && e.Token <= last {
						t.Errorf("token %d comes after %d", e.Token, last)
					}
					last = e.Token
				}
			}
		})
	}
}

// A scheme that speaks plain Redis can be stopped before it looks at its grants, too, and does not look at the clock.
func TestAPauseInAcquireBreaksThePlainSchemes(t *testing.T) {
	for _, scheme := range []string{"blind-del", "redlock-naive"} {
		t.Run(scheme, func(t *testing.T) {
			result := play(t, newPool(t, Config{Kind: Embedded}), "pause-in-acquire", scheme, chaos.GuardNone)
			if result.Verdict.Outcome != chaos.Breaks || result.Verdict.Overlaps == 0 || result.Verdict.LostUpdates == 0 {
				t.Errorf("%+v, not reached because of: %v\n%s", result.Verdict, result.Err, story(result.History))
			}
		})
	}
}

func TestPlainAnswersAsRedisDoes(t *testing.T) {
	onEachKind(t, func(t *testing.T, c Config) {
		node := startNodes(t, c)[0]
		p := plainTo(t, node.Addr())
		for _, step := range []struct {
			command []string
			text    string
			ok      bool
		}{
			{[]string{"GET", "a"}, "", false},
			{[]string{"SET", "a", "1", "NX", "PX", "60000"}, "OK", true},
			{[]string{"SET", "a", "2", "NX", "PX", "60000"}, "", false},
			{[]string{"GET", "a"}, "1", true},
			{[]string{"SETNX", "a", "2"}, "0", true},
			{[]string{"INCR", "a"}, "2", true},
			{[]string{"PEXPIRE", "a", "60000"}, "1", true},
			{[]string{"DEL", "a"}, "1", true},
			{[]string{"DEL", "a"}, "0", true},
			{[]string{"SETNX", "a", ""}, "1", true},
			{[]string{"GET", "a"}, "", true},
		} {
			if text, ok, err := p.Do(bounded(t), 0, step.command...); text != step.text || ok != step.ok || err != nil {
				t.Errorf("%q: %q, %v, %v", step.command, text, ok, err)
			}
		}
	})
}

func TestPlainFailsWithAnErrorThatSaysWhatAndWhere(t *testing.T) {
	node := startNodes(t, Config{Kind: Embedded, N: 1})[0]
	p := plainTo(t, node.Addr())
	_, _, err := p.Do(bounded(t), 0, "PEXPIRE", "a", "soon")
	mustSay(t, err, "PEXPIRE to master A")
	_, _, err = p.Do(bounded(t), 1, "GET", "a")
	mustSay(t, err, "master 2 of 1")
	_, _, err = p.Do(bounded(t), 0)
	mustSay(t, err, "no such thing")
}

func TestPlainGivesUpWhenItsContextEnds(t *testing.T) {
	node := startNodes(t, Config{Kind: Embedded, N: 1})[0]
	proxy, err := NewProxy(node.Addr())
	must(t, err)
	t.Cleanup(func() { proxy.Close() })
	p := plainTo(t, proxy.Addr())
	_, _, err = p.Do(bounded(t), 0, "GET", "a")
	must(t, err)
	proxy.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	asked := time.Now()
	if _, _, err := p.Do(ctx, 0, "GET", "a"); err == nil {
		t.Error("an answer came through a cut")
	}
	const library = 5 * time.Second
	if took := time.Since(asked); took >= library {
		t.Errorf("it took %v: not its context has ended it, but the library's time-out of %v", took, library)
	}
}

func plainTo(t *testing.T, addr string) *plain {
	t.Helper()
	c, err := newRedisClient("redis://" + addr)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return &plain{masters: []redis.UniversalClient{c}, process: new(process)}
}
