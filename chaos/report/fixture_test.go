package report

import (
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

const ms = time.Millisecond

// gcPause is the history of the argument that started it all.
func gcPause(guarded bool) chaos.History {
	h := chaos.History{
		{At: 2 * ms, Actor: "1", Kind: chaos.Asked},
		{At: 4 * ms, Actor: "1", Kind: chaos.Acquired, Token: 33, Until: 398 * ms},
		{At: 5 * ms, Actor: "1", Kind: chaos.Read, Token: 33},
		{At: 6 * ms, Actor: "1", Kind: chaos.Began, Fault: "pause", Text: "is stopped (SIGSTOP): /proc says that it is in state T"},
		{At: 402 * ms, Kind: chaos.Said, Text: "the lease of 1 is over"},
		{At: 403 * ms, Actor: "2", Kind: chaos.Asked},
		{At: 407 * ms, Actor: "2", Kind: chaos.Acquired, Token: 34, Until: 801 * ms},
		{At: 408 * ms, Actor: "2", Kind: chaos.Read, Token: 34},
		{At: 409 * ms, Actor: "2", Kind: chaos.Wrote, Token: 34, Value: 1},
		{At: 410 * ms, Actor: "1", Kind: chaos.Ended, Fault: "pause", Text: "goes on (SIGCONT)"},
		{At: 412 * ms, Actor: "1", Kind: chaos.Wrote, Token: 33, Value: 1, Lost: true, Stale: true},
		{At: 414 * ms, Actor: "2", Kind: chaos.Left},
		{At: 415 * ms, Actor: "1", Kind: chaos.Left},
	}
	if guarded {
		h[10] = chaos.Event{At: 412 * ms, Actor: "1", Kind: chaos.Refused, Token: 33, Text: "write of 1: stale fencing token: 33 is below 34"}
	}
	return h
}

// clockJump has faults on clients and on a master, none of which ends.
func clockJump() chaos.History {
	return chaos.History{
		{At: 1 * ms, Actor: "1", Kind: chaos.Began, Fault: "partition", Text: "is cut off from [D E]: 2 connections are dead"},
		{At: 1 * ms, Actor: "2", Kind: chaos.Began, Fault: "partition", Text: "is cut off from [A B]: 2 connections are dead"},
		{At: 3 * ms, Actor: "1", Kind: chaos.Asked},
		{At: 9 * ms, Actor: "1", Kind: chaos.Acquired, Token: 7, Until: 4005 * ms},
		{At: 10 * ms, Actor: "1", Kind: chaos.Read, Token: 7},
		{At: 12 * ms, Actor: "C", Kind: chaos.Began, Fault: "clock", Text: "its clock is stepped by +5s: TIME was 1796042077.114, and is 1796042082.115"},
		{At: 13 * ms, Actor: "2", Kind: chaos.Asked},
		{At: 21 * ms, Actor: "2", Kind: chaos.Acquired, Token: 8, Until: 4011 * ms},
		{At: 22 * ms, Actor: "2", Kind: chaos.Read, Token: 8},
		{At: 23 * ms, Actor: "2", Kind: chaos.Wrote, Token: 8, Value: 1},
		{At: 24 * ms, Actor: "1", Kind: chaos.Refused, Token: 7, Text: "write of 1: stale fencing token: 7 is below 8"},
		{At: 25 * ms, Actor: "3", Kind: chaos.Asked},
		{At: 31 * ms, Actor: "3", Kind: chaos.Denied, Text: "held by another client"},
	}
}

// shopping is long, and old: nobody noted what kind of fault there was, nor when a lease ends.
func shopping() chaos.History {
	h := chaos.History{{At: 1 * ms, Actor: "4", Kind: chaos.Began, Text: "is stopped for 913ms, before its read"}}
	for i := range 200 {
		at, who := time.Duration(2+4*i)*ms, fmt.Sprint(1+i%3)
		h = append(h,
			chaos.Event{At: at, Actor: who, Kind: chaos.Acquired, Token: 1},
			chaos.Event{At: at + ms, Actor: who, Kind: chaos.Wrote, Value: 200 - i, Lost: i == 120},
			chaos.Event{At: at + 2*ms, Actor: who, Kind: chaos.Left})
	}
	return h
}

var (
	fixtureSchemes = []string{"none", "local-mutex", "setnx", "setnx-expire", "blind-del", "get-then-del", "single", "single-watchdog",
		"redlock-naive", "redlock", "redlock-watchdog", "single-failover"}
	fixtureGuards = []chaos.Guard{chaos.GuardNone, chaos.GuardWrites, chaos.GuardAll, "cas"}
)

// fixture is a run as large as they get: 33 scenarios, and a search of 20 faults, with a story for each live cell.
func fixture() (Results, []Story) {
	r := Results{
		Meta: Meta{Commit: "0123456789ab", Go: "go1.26.8", Redis: "redis-server 7.0.15", Nodes: "process", CPUs: 2,
			Started: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC), DurationS: 183},
		Run: &Run{CPU: "Example CPU @ 2.10GHz", Command: "chaos run --nodes process"},
		Measures: []Measures{
			{Scheme: "single", AcquireP50MS: .11, AcquireP99MS: .42, AcquireN: 200, Down: []Availability{{20, 20}, {0, 20}}, FailoverMS: 812},
			{Scheme: "redlock", AcquireP50MS: .34, AcquireP99MS: 1.2, AcquireN: 200, Down: []Availability{{20, 20}, {20, 20}, {20, 20}, {0, 20}}},
		},
	}
	scenarios := []string{"gc-pause", "gc-pause-before-write-of-2", "clock-jump", "oversell"}
	for i := len(scenarios); i < 33; i++ {
		scenarios = append(scenarios, fmt.Sprintf("scenario-number-%d", i+1))
	}
	var stories []Story
	for i, scenario := range scenarios {
		for j, scheme := range []string{"single", "redlock", "redlock-naive", "setnx", "none"}[:2+i%4] {
			for k, guard := range fixtureGuards {
				verdict := chaos.Breaks
				if k > i%3 {
					verdict = chaos.Holds
				}
				c := Cell{World: "live", Scheme: scheme, Fault: scenario, Guard: guard, Workload: "counter", Runs: 1, Reached: 1, Available: 1,
					Expected: verdict, Verdict: verdict, Replay: fmt.Sprintf("make chaos NODES=process SCENARIO=%s SCHEME=%s GUARD=%s", scenario, scheme, guard)}
				h := gcPause(verdict == chaos.Holds)
				switch {
				case verdict == chaos.Breaks:
					c.Overlaps, c.Corruptions = 1, 1
				default:
					c.Overlaps, c.Refusals = 1, 1
				}
				switch i {
				case 2:
					h = clockJump()
				case 3:
					h = shopping()
				}
				if i == 7 && j == 1 && k == 1 {
					c.Verdict, c.Reached = chaos.Unreached, 0
				}
				r.Cells = append(r.Cells, c)
				stories = append(stories, Tell(c, scenario, "Kleppmann, \"Protecting a resource with a lock\"",
					"1 is stopped between its last check and its write, for longer than its lease", h))
			}
		}
	}
	for i := range 20 {
		for j, scheme := range fixtureSchemes {
			for k, guard := range fixtureGuards {
				verdict := chaos.Holds
				if (i+j)%4 > k {
					verdict = chaos.Breaks
				}
				c := Cell{World: "sim", Scheme: scheme, Fault: fmt.Sprintf("kind-of-fault-%d", i+1), Guard: guard, Workload: "any", Runs: 1500,
					Reached: 1400, Available: 1500, Expected: verdict, Verdict: verdict, Replay: "make search SCHEME=" + scheme}
				if verdict == chaos.Breaks {
					c.Corruptions, c.Replay = 1, fmt.Sprintf("make replay PLAN='%s client-pause none counter 2x1 4 1@7:pause,913ms'", scheme)
					stories = append(stories, Tell(c, "", "", "a client, or two, stop for longer than the lease", gcPause(false)))
				}
				r.Cells = append(r.Cells, c)
			}
		}
	}
	return r, stories
}
