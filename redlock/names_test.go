package redlock_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

var oddNames = []string{
	" ", "a lock with spaces ", "line\nbreak\r\n", "\x00", "zero\x00inside", "schloß", "锁", "🔒", "\xff\xfe",
	"half \xe2\x82", "%s %d", "*", "?[a-z]", "'\"`$(rm)", "-1", "0", "nil", "EVAL", "a:fence:b", ":fenc", "lock:FENCE",
	"{", "}", "{}", "}{", "{{", "}}", "{}{", "{a}", "{a", "a}", "a{b}c", "a{}b", "a{}{b}", "{{a}}", "{a}{b}", "a{b}c}d",
	strings.Repeat("x", redlock.MaxNameLen), strings.Repeat("{", redlock.MaxNameLen),
	strings.Repeat("\x00", redlock.MaxNameLen),
}

func TestAnyNameWorksAndLeavesOnlyItsCounter(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	for _, name := range oddNames {
		l := take(t, client, name)
		if l.Name() != name {
			t.Errorf("%q became %q", name, l.Name())
		}
		must(t, l.Extend(bounded(t)))
		c.willHaveRun(name)
		eventually(t, "all masters hold it", func() bool { return agreeing(c.get(name)) == 5 })
		_, err := client.TryAcquire(bounded(t), name)
		mustBe(t, err, redlock.ErrHeld)
		drop(t, l)
		want := []string{redlock.Command{Name: name}.Counter()}
		c.each(func(ctx context.Context, eye *redis.Client) error {
			var keys []string
			eventually(t, "only the counter is left", func() bool {
				keys = eye.Keys(ctx, "*").Val()
				return slices.Equal(keys, want)
			})
			return eye.FlushAll(ctx).Err()
		})
	}
}

func TestNamesThatShareACounterDoNotDisturbEachOther(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	seen := map[string]redlock.Token{}
	for range 5 {
		a, b := take(t, client, "a"), take(t, client, "{a}") // both count in {a}:fence
		for _, l := range []*redlock.Lock{a, b} {
			if l.Token() <= seen[l.Name()] {
				t.Errorf("%q: token %d after %d", l.Name(), l.Token(), seen[l.Name()])
			}
			seen[l.Name()] = l.Token()
			must(t, l.Extend(bounded(t)))
		}
		drop(t, a)
		drop(t, b)
	}
}

func TestWhereALocksCounterIs(t *testing.T) {
	for name, want := range map[string]string{
		"lock":     "{lock}:fence",
		"a:b":      "{a:b}:fence",
		" ":        "{ }:fence",
		"{a}":      "{a}:fence",
		"a{b}c":    "a{b}c:fence",
		"a{b}{c}":  "a{b}{c}:fence",
		"{{a}}":    "{{a}}:fence",
		"{":        "{{}:fence",
		"{a":       "{{a}:fence",
		"{}":       "{{}}:fence",       // no tag: there is nothing between the braces
		"a{}b{c}d": "{a{}b{c}d}:fence", // no tag: Redis looks at the first opening brace alone
	} {
		if got := (redlock.Command{Name: name}).Counter(); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestALockAndItsCounterShareAHashSlotAndNoNameIsACounter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := slices.Clone(oddNames)
	for len(names) < 10_000 {
		var name []byte
		for range 1 + random.IntN(12) {
			name = append(name, "{}ab:"[random.IntN(5)])
		}
		names = append(names, string(name))
	}
	apart := 0
	for _, name := range names {
		counter := redlock.Command{Name: name}.Counter()
		if !strings.HasSuffix(counter, ":fence") {
			t.Errorf("%q: the counter %q is a name that a lock may have", name, counter)
		}
		switch {
		case slot(name) == slot(counter):
		case !strings.Contains(name, "}"):
			t.Errorf("%q and %q are in different slots", name, counter)
		case tag(name) != name:
			t.Errorf("%q and %q are in different slots, and it has a tag", name, counter)
		default:
			apart++ // a closing brace, and no tag: nothing can be done
		}
	}
	if apart == len(names) {
		t.Error("no name has its counter in its slot")
	}
}

// tag returns the part of a key that decides its slot (Redis cluster specification, "Hash tags").
func tag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}

// slot returns the cluster's slot of a key: CRC16 (XMODEM) of its tag, modulo 16384.
func slot(key string) uint16 {
	var crc uint16
	for _, b := range []byte(tag(key)) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}
