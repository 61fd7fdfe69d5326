package redlock_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A record is what a trace was told, one line a call.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// next returns what was told since it was last called.
func (r *record) next() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

func (r *record) trace() *redlock.Trace {
	return &redlock.Trace{
		RoundStarted: func(op redlock.Op, name string) { r.add("%v %s?", op, name) },
		NodeAnswered: func(op redlock.Op, name string, node int, took time.Duration, err error) {
			r.add("%v %s: %d says %v in %v", op, name, node, err == nil, took)
		},
		Granted: func(name string, token redlock.Token, took time.Duration) {
			r.add("%s granted with %v in %v", name, token > 0, took)
		},
		Refused:      func(name string, err error) { r.add("%s refused: %v", name, kindOf(err)) },
		Extended:     func(name string, until time.Time) { r.add("%s extended until :%02d", name, until.Second()) },
		ExtendFailed: func(name string, err error) { r.add("%s not extended: %v", name, kindOf(err)) },
		Lost:         func(name string, cause error) { r.add("%s lost: %v", name, kindOf(cause)) },
		Released: func(name string, held time.Duration, err error) {
			r.add("%s released after %v: %v", name, held, kindOf(err))
		},
		CleanedUp: func(name string, node int) { r.add("%s cleaned up on %d", name, node) },
	}
}

// kindOf returns the sentinel that an error matches.
func kindOf(err error) error {
	for _, kind := range kindsOfError {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

func TestATraceIsToldWhatHappens(t *testing.T) {
	m := newModel(3)
	m.before = func(cmd redlock.Command) {
		if cmd.Nodes == nil { // which is not so in the background
			m.clock.Advance(time.Second)
		}
	}
	var r record
	client := m.client(t, redlock.WithTrace(r.trace()), redlock.WithTTL(time.Minute))
	told := func(want ...string) {
		t.Helper()
		if got := r.next(); !slices.Equal(got, want) {
			t.Errorf("told %q\nwant %q", got, want)
		}
	}

	l := take(t, client, "lock")
	told("acquire lock?", "acquire lock: 0 says true in 1s", "acquire lock: 1 says true in 1s", "lock granted with true in 1s")

	_, err := client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrHeld)
	told("acquire lock?", "acquire lock: 0 says false in 1s", "acquire lock: 1 says false in 1s",
		"lock refused: held by another client")

	must(t, l.Extend(t.Context()))
	eventually(t, "the straggler has answered", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.lines) == 5
	})
	told("extend lock?", "extend lock: 0 says true in 1s", "extend lock: 1 says true in 1s",
		"lock extended until :01", // 3 s have passed; of a minute 0.602 s are drift
		"extend lock: 2 says true in 1s")

	m.fate = these(unheard, 0, 2)
	mustBe(t, l.Extend(t.Context()), redlock.ErrNoQuorum)
	told("extend lock?", "extend lock: 0 says false in 1s", "extend lock: 1 says true in 1s",
		"extend lock: 2 says false in 1s", "lock not extended: no quorum of masters answered")
	m.fate = nil

	m.put("lock", "somebody", 0, 1)
	mustBe(t, l.Extend(t.Context()), redlock.ErrLost)
	told("extend lock?", "extend lock: 0 says false in 1s", "extend lock: 1 says false in 1s",
		"lock lost: lock lost to another client", "lock not extended: lock lost to another client")

	mustBe(t, l.Release(t.Context()), redlock.ErrLost)
	told("release lock?", "release lock: 0 says false in 1s", "release lock: 1 says false in 1s",
		"release lock: 2 says true in 1s", "lock released after 6s: lock lost to another client")

	l = take(t, client, "other")
	r.next()
	m.before = nil
	m.clock.Advance(time.Minute)
	told("other lost: lease expired")
	mustBe(t, l.Release(t.Context()), redlock.ErrExpired)
}

func TestATraceIsToldOfMastersThatAreCleanedUpLater(t *testing.T) {
	m := newModel(3)
	var r record
	client := m.client(t, redlock.WithTrace(&redlock.Trace{CleanedUp: r.trace().CleanedUp}))
	m.fate = these(unanswered, 1, 2)
	_, err := client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
	m.mu.Lock()
	m.fate = these(unanswered, 2)
	m.mu.Unlock()
	for _, want := range []string{"lock cleaned up on 1", "lock cleaned up on 2"} {
		eventually(t, want, func() bool {
			if m.clock.Waiters() > 0 {
				m.clock.Advance(100 * time.Millisecond)
			}
			return slices.Equal(r.next(), []string{want})
		})
		m.mu.Lock()
		m.fate = nil
		m.mu.Unlock()
	}
}

func TestATraceWithoutCallbacksDoesNothing(t *testing.T) {
	m := newModel(3)
	client := m.client(t, redlock.WithTrace(new(redlock.Trace)))
	l := take(t, client, "lock")
	_, err := client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrHeld)
	m.clock.Advance(time.Second)
	must(t, l.Extend(t.Context()))
	drop(t, l)
	m.fate = these(unanswered, 0, 1, 2)
	_, err = client.TryAcquire(t.Context(), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
}
