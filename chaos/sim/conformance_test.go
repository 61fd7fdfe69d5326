package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// What the simulator finds says something of real masters only if its nodes answer as they do. So both get the same
// commands here, and must give the same answers and be left with the same keys.
//
// No answer depends on how long anything takes. Both clocks begin at the epoch and are stepped by whole hours; leases,
// and proposals near the present, are odd numbers of half hours. So whatever is compared with a clock is nearly half an
// hour away from it.

func TestModelAnswersAsARedisServerDoes(t *testing.T) {
	if _, ok := testenv.RedisServer(t); !ok {
		return
	}
	if _, ok := testenv.Compiler(t); !ok {
		return // a redis-server's clock cannot be stepped without
	}
	conform(t, live.Process, vocabulary{
		texts: slices.Concat(texts, []string{"007", "+1", "-0", "00"}),
		wrong: slices.Concat(wrong, [][]string{
			{"SET", "key", "1", "PX"}, {"SET", "key", "1", "PX", "0"}, {"SET", "key", "1", "PX", "-1"},
			{"SET", "key", "1", "PX", "+60000"}, {"PEXPIRE", "key", "060000"},
		}),
	})
}

// Embedded nodes are spared what miniredis makes of words that no lock sends: it counts on from numbers that are written
// in an unusual way, and refuses some lifetimes with another text than Redis.
func TestModelAnswersAsAnEmbeddedNodeDoes(t *testing.T) {
	conform(t, live.Embedded, vocabulary{texts, wrong})
}

func conform(t *testing.T, kind live.Kind, v vocabulary) {
	pair := newTwins(t, kind)
	t.Run("in every state", func(t *testing.T) { pair.inEveryState(t, v.texts) })
	t.Run("in any order", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { pair.inAnyOrder(t, v) })
	})
}

// vocabulary is what plain commands are made of.
type vocabulary struct {
	texts []string   // what keys are set to; a counter may meet all of them
	wrong [][]string // commands that are refused, whatever the key holds
}

var texts = []string{
	"1", "2", "41", "mine", "yours", "", "text", "-1", "1.5", "1.0", "1e3", "0x10", "nan", "inf", " 1", "1 ", "1\n", "1\x00",
	"9007199254740990", "9007199254740991", "9007199254740992", "9223372036854775807", "99999999999999999999",
}

var wrong = [][]string{
	{"GET"}, {"GET", "key", "key"}, {"SET", "key"}, {"SETNX", "key"}, {"DEL"}, {"INCR"}, {"INCR", "key", "1"}, {"PEXPIRE", "key"},
	{"SET", "key", "1", "PX", "soon"}, {"SET", "key", "1", "AT", "1"},
	{"PEXPIRE", "key", "soon"}, {"PEXPIRE", "key", ""}, {"PEXPIRE", "key", "1.5"},
}

// oddHours are leases and retentions.
var oddHours = []time.Duration{time.Hour / 2, 3 * time.Hour / 2, 5 * time.Hour / 2, 49 * time.Hour / 2}

// inHalfHours returns a token near the present: so many half hours after the epoch.
func inHalfHours(n int) redlock.Token {
	return redlock.Token(epoch.Add(time.Duration(n) * time.Hour / 2).UnixMicro())
}

// inEveryState tries each operation on each kind of lock with each counter, and each number with that.
func (w *twins) inEveryState(t *testing.T, texts []string) {
	const name, absent = "order", "(absent)"
	seen := map[string]bool{}
	for op := redlock.OpAcquire; op <= redlock.OpRelease; op++ {
		for _, holder := range []string{absent, "mine", "yours"} {
			for _, counter := range slices.Concat(texts, []string{absent}) {
				for _, number := range []redlock.Token{0, 2, inHalfHours(1), inHalfHours(9), maxCounter - 1} {
					cmd := redlock.Command{Op: op, Name: name, Value: "mine", Token: number, TTL: oddHours[1], Retention: oddHours[2]}
					var story []action
					if holder != absent {
						story = append(story, action{plain: []string{"SET", name, holder, "PX", millis(oddHours[0])}})
					}
					if counter != absent {
						story = append(story, action{plain: []string{"SET", cmd.Counter(), counter}})
					}
					story = append(story, action{lock: cmd})

					err := w.begin([]string{name})
					for _, a := range story {
						var real, model string
						if err == nil {
							real, model, err = w.do(a)
						}
						if err != nil || real != model {
							t.Fatalf("%#v:\nthe real one: %s\n   the model: %s\n       error: %v", story, real, model, err)
						}
						if a.plain == nil {
							word, _, _ := strings.Cut(real, " ")
							seen[op.String()+" "+word] = true
						}
					}
				}
			}
		}
	}
	// To agree on what never happens is easy.
	for _, want := range []string{
		"acquire done", "acquire held", "acquire ERR", "confirm done", "confirm held", "confirm gone", "confirm ahead", "confirm ERR",
		"extend done", "extend held", "extend gone", "extend ERR", "repair done", "repair held", "repair ERR",
		"release done", "release held", "release gone",
	} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
}

// inAnyOrder draws a story.
func (w *twins) inAnyOrder(t *rapid.T, v vocabulary) {
	locks := rapid.SampledFrom([][]string{
		{"order", "{shop}:7"}, {"two words", "\x00{\xff}\r\n"}, {"{}x", "half{open"}, {"back}", "a{b}{c}"},
		{"a", "{a}"}, // these two share a counter
	}).Draw(t, "locks")
	next := actions(locks, v)
	err := w.begin(locks)
	then := func(t *rapid.T) {
		a := next.Draw(t, "action")
		var real, model string
		if err == nil {
			real, model, err = w.do(a)
		}
		t.Logf("the real one: %s\n   the model: %s\n       error: %v", real, model, err)
		if err != nil || real != model {
			// A message that tells the time would differ from run to run, and the story would not be made short.
			t.Fatalf("they differ after %#v", a)
		}
	}
	t.Repeat(map[string]func(*rapid.T){"then": then})
}

// actions draws one thing to do after the other.
func actions(locks []string, v vocabulary) *rapid.Generator[action] {
	return rapid.Custom(func(t *rapid.T) action {
		switch kind := rapid.IntRange(0, 9).Draw(t, ""); {
		case kind < 6:
			return action{lock: drawLock(t, locks)}
		case kind < 8:
			return action{plain: drawPlain(t, keysOf(locks), v)}
		case kind < 9:
			// Somebody else lays hands on a counter.
			counter := redlock.Command{Name: rapid.SampledFrom(locks).Draw(t, "")}.Counter()
			text := rapid.SampledFrom(v.texts).Draw(t, "")
			return action{plain: rapid.SampledFrom([][]string{{"DEL", counter}, {"SET", counter, text}}).Draw(t, "")}
		}
		return action{step: time.Hour * rapid.SampledFrom([]time.Duration{1, -1, 2, -2, 30}).Draw(t, "")}
	})
}

func drawLock(t *rapid.T, locks []string) redlock.Command {
	// One holder comes more often, so that it also meets its own lock.
	values := []string{"mine", "mine", "mine", "yours", "\x00\xff\r\n"}
	c := redlock.Command{
		Op:        redlock.Op(rapid.IntRange(int(redlock.OpAcquire), int(redlock.OpRelease)).Draw(t, "")),
		Name:      rapid.SampledFrom(locks).Draw(t, ""),
		Value:     rapid.SampledFrom(values).Draw(t, ""),
		TTL:       rapid.SampledFrom(oddHours).Draw(t, ""),
		Retention: rapid.SampledFrom(append([]time.Duration{0}, oddHours...)).Draw(t, ""),
	}
	switch kind := rapid.IntRange(0, 9).Draw(t, ""); {
	case kind < 5:
		c.Token = redlock.Token(rapid.IntRange(0, 9).Draw(t, ""))
	case kind < 9:
		// Some of these are further ahead than the hour that a proposal may be.
		c.Token = inHalfHours(2*rapid.IntRange(-3, 6).Draw(t, "") + 1)
	default:
		c.Token = maxCounter - 1
	}
	return c
}

func drawPlain(t *rapid.T, keys []string, v vocabulary) []string {
	key := rapid.SampledFrom(keys).Draw(t, "")
	text := rapid.SampledFrom(v.texts).Draw(t, "")
	lease := millis(rapid.SampledFrom(oddHours).Draw(t, ""))
	command := rapid.SampledFrom([][]string{
		{"GET", key}, {"DEL", key}, {"INCR", key}, {"SETNX", key, text}, {"setnx", key, text},
		{"SET", key, text}, {"SET", key, text, "NX"}, {"SET", key, text, "PX", lease},
		{"SET", key, text, "NX", "PX", lease}, {"set", key, text, "px", lease, "nx"},
		{"PEXPIRE", key, lease}, {"PEXPIRE", key, "0"}, {"PEXPIRE", key, "-1"},
		nil,
	}).Draw(t, "")
	if command != nil {
		return command
	}
	command = slices.Clone(rapid.SampledFrom(v.wrong).Draw(t, ""))
	for i := range command {
		if command[i] == "key" {
			command[i] = key
		}
	}
	return command
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// An action is what both get: a command of the locks, one of Redis' own, or a step of the clock.
type action struct {
	lock  redlock.Command
	plain []string
	step  time.Duration
}

func (a action) GoString() string {
	switch {
	case a.step != 0:
		return fmt.Sprintf("step the clock by %v", a.step)
	case a.plain != nil:
		return fmt.Sprintf("%q", a.plain)
	}
	c := a.lock
	return fmt.Sprintf("%s %q with value %q, number %d, lease %v, retention %v", c.Op, c.Name, c.Value, c.Token, c.TTL, c.Retention)
}
