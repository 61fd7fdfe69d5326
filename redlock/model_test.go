package redlock_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A model is masters in memory, which do what the scripts do, at once, by a clock that the test moves. It is for what
// depends on time or on an exact order of events; what Redis makes of the scripts is for the other tests.
type model struct {
	clock *clock.Virtual

	// Set by the test before commands are sent.
	before func(cmd redlock.Command)                   // called at the beginning of each round
	fate   func(node int, cmd redlock.Command) outcome // of one command on one master

	mu       sync.Mutex
	nodes    []map[string]modelKey
	counters []map[string]redlock.Token
	sent     []redlock.Command
}

type modelKey struct {
	value string
	until time.Duration // by the Boot reading
}

// An outcome is what becomes of a command on its way to one master and back.
type outcome uint8

const (
	obeyed     outcome = iota
	unheard            // the request is lost
	unanswered         // the reply is
)

func newModel(n int) *model {
	m := &model{clock: clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))}
	for range n {
		m.nodes = append(m.nodes, map[string]modelKey{})
		m.counters = append(m.counters, map[string]redlock.Token{})
	}
	return m
}

// client returns a client over the model, which goes by the model's clock.
func (m *model) client(t testing.TB, opts ...redlock.Option) *redlock.Client {
	t.Helper()
	c, err := redlock.NewOver(m, append([]redlock.Option{redlock.WithClock(m.clock)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func (m *model) Len() int { return len(m.nodes) }

func (m *model) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		if ctx.Err() != nil {
			return
		}
		if m.before != nil {
			m.before(cmd)
		}
		for _, reply := range m.round(cmd) {
			if ctx.Err() != nil || !yield(reply) {
				return
			}
		}
	}
}

// round carries a command out on all masters that it is for.
func (m *model) round(cmd redlock.Command) []redlock.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, cmd)
	nodes := cmd.Nodes
	if nodes == nil {
		for i := range m.nodes {
			nodes = append(nodes, i)
		}
	}
	var replies []redlock.Reply
	for _, i := range nodes {
		o := obeyed
		if m.fate != nil {
			o = m.fate(i, cmd)
		}
		reply := redlock.Reply{Node: i}
		if o != unheard {
			reply.Status, reply.Counter = m.run(i, cmd)
		}
		if o != obeyed {
			reply = redlock.Reply{Node: i, Err: fmt.Errorf("no answer within %v: %w", cmd.Timeout, os.ErrDeadlineExceeded)}
		}
		replies = append(replies, reply)
	}
	return replies
}

func (m *model) run(node int, cmd redlock.Command) (redlock.Status, redlock.Token) {
	keys, counters, now := m.nodes[node], m.counters[node], m.clock.Now().Boot
	key, ok := keys[cmd.Name]
	if ok && key.until <= now {
		delete(keys, cmd.Name)
		ok = false
	}
	mine := ok && key.value == cmd.Value
	free := redlock.Gone
	if ok {
		free = redlock.Held
	}
	fresh := modelKey{cmd.Value, now + cmd.TTL}
	counter := counters[cmd.Counter()]
	switch {
	case cmd.Op == redlock.OpAcquire && !ok:
		keys[cmd.Name] = fresh
		counter = max(counter+1, cmd.Token)
	case cmd.Op == redlock.OpAcquire && mine:
	case cmd.Op == redlock.OpRepair && !ok:
		keys[cmd.Name] = fresh
		counter = max(counter, cmd.Token)
	case !mine:
		return free, 0
	case cmd.Op == redlock.OpRelease:
		delete(keys, cmd.Name)
		return redlock.Done, 0
	case cmd.Op == redlock.OpConfirm && counter > cmd.Token:
		return redlock.Ahead, counter
	case cmd.Op == redlock.OpConfirm:
		counter = cmd.Token
	default:
		if cmd.Op == redlock.OpExtend {
			keys[cmd.Name] = fresh
		}
		counter = max(counter, cmd.Token)
	}
	counters[cmd.Counter()] = counter
	return redlock.Done, counter
}

// put gives a master a key that never expires; an empty value takes it away.
func (m *model) put(name, value string, nodes ...int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range nodes {
		m.nodes[i][name] = modelKey{value, clock.Forever}
		if value == "" {
			delete(m.nodes[i], name)
		}
	}
}

// holders returns how many masters have the key now, and how many of those have our value.
func (m *model) holders(name, value string) (all, ours int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, keys := range m.nodes {
		if key, ok := keys[name]; ok && key.until > m.clock.Now().Boot {
			all++
			if key.value == value {
				ours++
			}
		}
	}
	return all, ours
}

// held returns how many masters have the key now.
func (m *model) held(name string) int {
	all, _ := m.holders(name, "")
	return all
}

// asked returns the commands of an operation that were sent so far.
func (m *model) asked(op redlock.Op) []redlock.Command {
	return slices.DeleteFunc(m.commands(), func(cmd redlock.Command) bool { return cmd.Op != op })
}

// commands returns everything that was sent so far.
func (m *model) commands() []redlock.Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

// these returns a fate that meets some of the masters; the others obey.
func these(o outcome, nodes ...int) func(int, redlock.Command) outcome {
	return func(node int, _ redlock.Command) outcome {
		if slices.Contains(nodes, node) {
			return o
		}
		return obeyed
	}
}
