package schemes

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

const (
	ttl  = 10 * time.Second
	lock = "order:7"
)

// masters are Redis masters in memory, on one clock, for both kinds of commands.
type masters struct {
	clock clock.Clock

	// before and after may be set to make mischief around a command: a Redis command or the name of an operation.
	// An error from before is a request that got lost, one from after a reply that did.
	before, after func(master int, command string) error

	mu   sync.Mutex
	data []map[string]entry
}

type entry struct {
	value   string
	expires time.Duration // by the Boot reading; 0 = never
}

func newMasters(n int, c clock.Clock) *masters {
	m := &masters{clock: c}
	for range n {
		m.data = append(m.data, map[string]entry{})
	}
	return m
}

func (m *masters) Len() int { return len(m.data) }

func (m *masters) Do(ctx context.Context, master int, command ...string) (text string, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	err = m.around(master, command[0], func() error {
		text, ok, err = m.plain(master, command)
		return err
	})
	return text, ok && err == nil, err
}

func (m *masters) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	return func(yield func(redlock.Reply) bool) {
		for node := range m.data {
			if cmd.Nodes != nil && !slices.Contains(cmd.Nodes, node) {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			var r redlock.Reply
			err := m.around(node, cmd.Op.String(), func() error {
				r = m.script(node, cmd)
				return nil
			})
			r.Node, r.Err = node, err
			if !yield(r) {
				return
			}
		}
	}
}

func (m *masters) around(master int, command string, do func() error) error {
	if m.before != nil {
		if err := m.before(master, command); err != nil {
			return err
		}
	}
	m.mu.Lock()
	err := do()
	m.mu.Unlock()
	if m.after != nil && err == nil {
		return m.after(master, command)
	}
	return err
}

func (m *masters) plain(master int, command []string) (text string, ok bool, err error) {
	key, args := command[1], command[2:]
	old, there := m.get(master, key)
	switch {
	case command[0] == "GET":
		return old.value, there, nil
	case command[0] == "SETNX" && there, command[0] == "DEL" && !there, command[0] == "PEXPIRE" && !there:
		return "0", true, nil
	case command[0] == "SETNX":
		m.data[master][key] = entry{value: args[0]}
		return "1", true, nil
	case command[0] == "DEL":
		delete(m.data[master], key)
		return "1", true, nil
	case command[0] == "PEXPIRE":
		m.data[master][key] = m.entry(old.value, milliseconds(args[0]))
		return "1", true, nil
	case command[0] == "SET" && len(args) == 4 && args[1] == "NX" && args[2] == "PX":
		if there {
			return "", false, nil
		}
		m.data[master][key] = m.entry(args[0], milliseconds(args[3]))
		return "OK", true, nil
	}
	return "", false, fmt.Errorf("a scheme sends %q", command)
}

// script does what the scripts of package redlock do.
func (m *masters) script(master int, cmd redlock.Command) redlock.Reply {
	old, there := m.get(master, cmd.Name)
	text, _ := m.get(master, cmd.Counter())
	count, _ := strconv.ParseUint(text.value, 10, 64)
	counter := redlock.Token(count)
	ours := there && old.value == cmd.Value
	switch {
	case there && !ours:
		return redlock.Reply{Status: redlock.Held}
	case !there && cmd.Op != redlock.OpAcquire && cmd.Op != redlock.OpRepair:
		return redlock.Reply{Status: redlock.Gone}
	case cmd.Op == redlock.OpRelease:
		delete(m.data[master], cmd.Name)
		return redlock.Reply{}
	case cmd.Op == redlock.OpConfirm && counter > cmd.Token:
		return redlock.Reply{Status: redlock.Ahead, Counter: counter}
	case cmd.Op == redlock.OpAcquire && !ours:
		counter = max(counter+1, cmd.Token)
	case cmd.Op != redlock.OpAcquire:
		counter = max(counter, cmd.Token)
	}
	if !ours || cmd.Op == redlock.OpExtend {
		m.data[master][cmd.Name] = m.entry(cmd.Value, cmd.TTL)
	}
	m.data[master][cmd.Counter()] = m.entry(strconv.FormatUint(uint64(counter), 10), cmd.Retention)
	return redlock.Reply{Counter: counter}
}

func (m *masters) entry(value string, lease time.Duration) entry {
	if lease == 0 {
		return entry{value: value}
	}
	return entry{value, m.clock.Now().Boot + lease}
}

func (m *masters) get(master int, key string) (entry, bool) {
	e, ok := m.data[master][key]
	if ok && e.expires != 0 && m.clock.Now().Boot >= e.expires {
		delete(m.data[master], key)
		return entry{}, false
	}
	return e, ok
}

// value returns what the lock's key holds, or nothing.
func (m *masters) value(master int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.get(master, lock)
	return e.value
}

func milliseconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(n) * time.Millisecond
}

// stage is a scheme with its masters; time is moved by the test.
type stage struct {
	*testing.T
	scheme  chaos.Scheme
	clock   *clock.Virtual
	masters *masters
	clients int
}

func newStage(t *testing.T, scheme chaos.Scheme) *stage {
	t.Helper()
	c := newClock()
	return &stage{T: t, scheme: scheme, clock: c, masters: newMasters(scheme.Masters, c)}
}

func newClock() *clock.Virtual {
	return clock.NewVirtual(time.Date(2016, 2, 8, 12, 0, 0, 0, time.UTC))
}

// client is a process that runs by the masters' clock.
func (s *stage) client() chaos.Locker { return s.clientBy(s.clock) }

// clientBy is a process with a clock of its own: it stands still for as long as that does.
func (s *stage) clientBy(c clock.Clock) chaos.Locker {
	s.Helper()
	s.clients++
	locker, err := s.scheme.Open(chaos.Env{
		Masters: s.masters,
		Plain:   s.masters,
		Clock:   c,
		Random:  rand.NewChaCha8([32]byte{byte(s.clients)}),
		TTL:     ttl,
	})
	if err != nil {
		s.Fatal(err)
	}
	return locker
}

func (s *stage) acquire(c chaos.Locker) chaos.Hold {
	s.Helper()
	h, err := c.Acquire(s.Context(), lock)
	if err != nil {
		s.Fatal(err)
	}
	return h
}

func (s *stage) release(h chaos.Hold) {
	s.Helper()
	if err := h.Release(s.Context()); err != nil {
		s.Error(err)
	}
}

// on returns a hook for one command on one master, the first time it is sent.
func on(master int, command string, do func() error) func(int, string) error {
	done := false
	return func(m int, c string) error {
		if done || m != master || c != command {
			return nil
		}
		done = true
		return do()
	}
}
