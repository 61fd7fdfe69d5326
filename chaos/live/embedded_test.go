package live

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func startEmbedded(t *testing.T) *embeddedNode {
	t.Helper()
	return startNodes(t, Config{Kind: Embedded, N: 1})[0].(*embeddedNode)
}

func TestEmbeddedScriptSeesTheSteppedClock(t *testing.T) {
	n := startEmbedded(t)
	_, err := n.StepClock(bounded(t), time.Hour)
	must(t, err)
	const script = `redis.call('SET', KEYS[1], '1', 'PX', '600000')
local now = redis.call('TIME')
return {now[1], redis.call('PTTL', KEYS[1]) > 0 and 'held' or 'free'}`
	got := strings.Fields(command(t, n.Addr(), "EVAL", script, "1", "lock"))
	var sec int64
	if _, err := fmt.Sscan(got[0], &sec); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(time.Unix(sec, 0)); ahead < 59*time.Minute {
		t.Errorf("the script's clock is %v ahead of ours, want about an hour", ahead)
	}
	if got[1] != "held" {
		t.Error("the lock is gone as soon as it is taken")
	}
}

func TestEmbeddedClockNeverRunsTwiceUnderLoad(t *testing.T) {
	n := startEmbedded(t)
	begun := time.Now()
	command(t, n.Addr(), "SET", "lock", "1", "PX", "600000")
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 50 {
				if _, err := askNode(bounded(t), n.Addr(), "EVAL", "return redis.call('PTTL', KEYS[1])", "1", "lock"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	gone := 10*time.Minute - pttl(t, n, "lock")
	if passed := time.Since(begun); gone > passed+time.Millisecond {
		t.Errorf("the lease has lost %v in %v", gone, passed)
	}
}
