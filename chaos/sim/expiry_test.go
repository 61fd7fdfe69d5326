package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// A key of Redis expires when its time is past, so it still lives in the millisecond that it was given. (Miniredis, and
// with it an embedded node, lets go of it as that begins.)

func TestModelsKeyLivesThroughTheMillisecondOfItsExpiry(t *testing.T) {
	const ttl = time.Second
	const lock, counter = "lock", "{lock}:fence"
	plain := func(words ...string) action { return action{plain: words} }
	script := func(op redlock.Op) action {
		return action{lock: redlock.Command{Op: op, Name: lock, Value: "1", TTL: ttl, Retention: ttl}}
	}
	for name, c := range map[string]struct {
		key   string
		story []action
	}{
		"SET PX":              {lock, []action{plain("SET", lock, "1", "PX", "1000")}},
		"SET NX PX":           {lock, []action{plain("SET", lock, "1", "NX", "PX", "1000")}},
		"PEXPIRE":             {lock, []action{plain("SETNX", lock, "1"), plain("PEXPIRE", lock, "1000")}},
		"INCR leaves it":      {lock, []action{plain("SET", lock, "1", "PX", "1000"), plain("INCR", lock)}},
		"acquire":             {lock, []action{script(redlock.OpAcquire)}},
		"acquire, its count":  {counter, []action{script(redlock.OpAcquire)}},
		"acquire once more":   {lock, []action{script(redlock.OpAcquire), script(redlock.OpAcquire)}},
		"confirm, its count":  {counter, []action{plain("SET", lock, "1"), script(redlock.OpConfirm)}},
		"extend":              {lock, []action{plain("SET", lock, "1"), script(redlock.OpExtend)}},
		"extend, its count":   {counter, []action{plain("SET", lock, "1"), script(redlock.OpExtend)}},
		"repair":              {lock, []action{script(redlock.OpRepair)}},
		"repair, its count":   {counter, []action{script(redlock.OpRepair)}},
		"release leaves that": {counter, []action{script(redlock.OpAcquire), script(redlock.OpRelease)}},
	} {
		for later, lives := range map[time.Duration]bool{
			-time.Hour:                 true,
			0:                          true,
			ttl - time.Millisecond:     true,
			ttl:                        true,
			ttl + time.Millisecond - 1: true,
			ttl + time.Millisecond:     false,
		} {
			n := &node{data: map[string]entry{}}
			for _, a := range c.story {
				if a.plain != nil {
					n.do(a.plain, epoch)
				} else {
					n.carryOut(&a.lock, counter, epoch)
				}
			}
			if got := n.do([]string{"GET", c.key}, epoch.Add(later)); got.ok != lives {
				t.Errorf("%s: %v later it lives: %v, want %v", name, later, got.ok, lives)
			}
		}
	}
}

// A script sees one time from its first command to its last. Its own TIME is not before that, and one asked earlier is
// not after it: if both are in one millisecond, so is that.
func TestRedisServersKeyLivesThroughTheMillisecondOfItsExpiry(t *testing.T) {
	if _, ok := testenv.RedisServer(t); !ok {
		return
	}
	const script = `
		local now = redis.call('TIME')
		local ms = now[1] * 1000 + math.floor(now[2] / 1000)
		local lives = ''
		for d = -1, 1 do
			redis.call('SET', KEYS[1], '', 'PXAT', string.format('%.0f', ms + d))
			lives = lives .. redis.call('EXISTS', KEYS[1])
		end
		return {string.format('%.0f', ms), lives}`
	_, client := startReal(t, live.Process)
	for range 1000 {
		pipe := client.Pipeline()
		before, after := pipe.Time(t.Context()), pipe.Eval(t.Context(), script, []string{"key"})
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := after.StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		if got[0] == fmt.Sprint(before.Val().UnixMilli()) {
			if got[1] != "011" {
				t.Errorf("it lives a millisecond after, at, and before its expiry: %s, want 011", got[1])
			}
			return
		}
	}
	t.Error("a thousand scripts have each begun in another millisecond than the question before")
}
