package sim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// epoch is what the wall clocks show when a world begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// node is a model of one Redis master: keys that expire by its own wall clock, and the commands that locks use. That
// it answers as a real server does is not taken on trust: a test sends the same commands to both.
type node struct {
	name   string
	host   host // paused: it hangs
	offset time.Duration
	down   bool // killed, and not started again
	boots  int  // restarts so far: what was on its way to an earlier run is lost
	data   map[string]entry

	// journal has what each change replaced, so that a node can be taken back to an earlier state: to what was on its
	// disk when the power failed, or had been copied to its replica.
	// It is kept only if some fault needs it.
	journal  []change
	journals bool
	now      func() time.Duration
}

type change struct {
	at  time.Duration
	key string
	old entry
	had bool
}

// forget takes back what has changed since then.
func (n *node) forget(since time.Duration) {
	for len(n.journal) > 0 {
		last := n.journal[len(n.journal)-1]
		if last.at < since {
			return
		}
		n.journal = n.journal[:len(n.journal)-1]
		if last.had {
			n.data[last.key] = last.old
		} else {
			delete(n.data, last.key)
		}
	}
}

func (n *node) note(key string) {
	if !n.journals {
		return
	}
	old, had := n.data[key]
	n.journal = append(n.journal, change{n.now(), key, old, had})
}

func (n *node) put(key string, e entry) {
	n.note(key)
	n.data[key] = e
}

func (n *node) remove(key string) {
	if _, ok := n.data[key]; ok {
		n.note(key)
		delete(n.data, key)
	}
}

type entry struct {
	value   string
	expires int64 // in milliseconds of the node's wall clock; 0 = never
}

// wall is the node's clock.
func (n *node) wall(now time.Duration) time.Time { return epoch.Add(now + n.offset) }

// get reads a key, which expires when its time is past.
func (n *node) get(key string, now time.Time) (entry, bool) {
	e, ok := n.data[key]
	if ok && e.expires != 0 && now.UnixMilli() > e.expires {
		delete(n.data, key)
		return entry{}, false
	}
	return e, ok
}

func (n *node) set(key, value string, ttl time.Duration, now time.Time) {
	e := entry{value: value}
	if ttl > 0 {
		e.expires = now.UnixMilli() + ttl.Milliseconds()
	}
	n.put(key, e)
}

// maxCounter is the bound of what the scripts count with: 2^53.
const maxCounter = 1 << 53

var errBroken = fmt.Errorf("ERR the fence counter is not a whole number below 2^53")

// counter reads the fencing counter as scripts/prelude.lua does.
func (n *node) counter(key string, now time.Time) (redlock.Token, error) {
	e, ok := n.get(key, now)
	if !ok {
		return 0, nil
	}
	c, err := strconv.ParseUint(e.value, 10, 64)
	if err != nil || c >= maxCounter {
		return 0, errBroken
	}
	return redlock.Token(c), nil
}

// carryOut is what the scripts of package redlock do; key is the lock's counter.
func (n *node) carryOut(cmd *redlock.Command, key string, now time.Time) redlock.Reply {
	held, taken := n.get(cmd.Name, now)
	ours := taken && held.value == cmd.Value
	status := redlock.Gone
	if taken {
		status = redlock.Held
	}
	creates := cmd.Op == redlock.OpAcquire || cmd.Op == redlock.OpRepair
	if !ours && (taken || !creates) {
		return redlock.Reply{Status: status}
	}
	if cmd.Op == redlock.OpRelease {
		n.remove(cmd.Name)
		return redlock.Reply{}
	}

	c, err := n.counter(key, now)
	if err != nil {
		return redlock.Reply{Err: err}
	}
	switch cmd.Op {
	case redlock.OpAcquire:
		if ours {
			return redlock.Reply{Counter: c}
		}
		c = max(c+1, min(cmd.Token, redlock.Token(now.Add(time.Hour).UnixMicro())))
		if c >= maxCounter {
			return redlock.Reply{Err: errBroken}
		}
		n.set(cmd.Name, cmd.Value, cmd.TTL, now)
	case redlock.OpConfirm:
		if c > cmd.Token {
			return redlock.Reply{Status: redlock.Ahead, Counter: c}
		}
		c = cmd.Token
	case redlock.OpExtend:
		n.set(cmd.Name, cmd.Value, cmd.TTL, now)
		c = max(c, cmd.Token)
	case redlock.OpRepair:
		if !ours {
			n.set(cmd.Name, cmd.Value, cmd.TTL, now)
		}
		c = max(c, cmd.Token)
	}
	n.set(key, strconv.FormatUint(uint64(c), 10), cmd.Retention, now)
	return redlock.Reply{Counter: c}
}

// answer is a reply to a plain command.
type answer struct {
	text string
	ok   bool // false: nil
	err  error
}

// do carries out one of Redis' own commands.
func (n *node) do(command []string, now time.Time) answer {
	name, args := strings.ToUpper(command[0]), command[1:]
	arity := map[string]int{"GET": 1, "SET": -2, "SETNX": 2, "DEL": 1, "INCR": 1, "PEXPIRE": 2}
	want, known := arity[name]
	if !known {
		return answer{err: fmt.Errorf("ERR unknown command '%s'", command[0])}
	}
	if want >= 0 && len(args) != want || len(args) < -want {
		return answer{err: fmt.Errorf("ERR wrong number of arguments for '%s' command", strings.ToLower(name))}
	}
	key := args[0]
	e, exists := n.get(key, now)
	switch name {
	case "GET":
		return answer{text: e.value, ok: exists}
	case "SET":
		return n.doSet(key, args[1], args[2:], exists, now)
	case "SETNX":
		if exists {
			return answer{text: "0", ok: true}
		}
		n.set(key, args[1], 0, now)
		return answer{text: "1", ok: true}
	case "DEL":
		n.remove(key)
		return answer{text: count(exists), ok: true}
	case "INCR":
		if !exists {
			e.value = "0"
		}
		v, err := integer(e.value)
		if err != nil {
			return answer{err: err}
		}
		if v == math.MaxInt64 {
			return answer{err: errors.New("ERR increment or decrement would overflow")}
		}
		e.value = strconv.FormatInt(v+1, 10)
		n.put(key, e)
		return answer{text: e.value, ok: true}
	default: // PEXPIRE
		ms, err := integer(args[1])
		if err != nil {
			return answer{err: err}
		}
		switch {
		case exists && ms <= 0:
			n.remove(key)
		case exists:
			n.set(key, e.value, time.Duration(ms)*time.Millisecond, now)
		}
		return answer{text: count(exists), ok: true}
	}
}

func (n *node) doSet(key, value string, options []string, exists bool, now time.Time) answer {
	var ttl time.Duration
	onlyNew := false
	for i := 0; i < len(options); i++ {
		switch strings.ToUpper(options[i]) {
		case "NX":
			onlyNew = true
			continue
		case "PX":
			if i++; i < len(options) {
				ms, err := integer(options[i])
				if err != nil {
					return answer{err: err}
				}
				if ms <= 0 {
					return answer{err: fmt.Errorf("ERR invalid expire time in 'set' command")}
				}
				ttl = time.Duration(ms) * time.Millisecond
				continue
			}
		}
		return answer{err: fmt.Errorf("ERR syntax error")}
	}
	if onlyNew && exists {
		return answer{}
	}
	n.set(key, value, ttl, now)
	return answer{text: "OK", ok: true}
}

// integer reads a number, of which Redis takes only the usual form: not +1, not 007.
func integer(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != text {
		return 0, errors.New("ERR value is not an integer or out of range")
	}
	return v, nil
}

func count(exists bool) string {
	if exists {
		return "1"
	}
	return "0"
}
