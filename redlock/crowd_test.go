package redlock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A room is what one lock protects.
type room struct {
	inside  atomic.Int32
	entered atomic.Int32
	last    redlock.Token // guarded by the lock
}

func TestAThousandCallersNeverMeetWhileMastersStallAndGoOn(t *testing.T) {
	const rooms = 20
	c := masters(t, 5)
	callers := 1000
	if !c.canPause() {
		callers = 100 // embedded nodes are slow, and share the processors with us
	}
	var clients []*redlock.Client
	for range 4 {
		clients = append(clients, newClient(t, c.warm(c.clients())))
	}
	before := runtime.NumGoroutine()

	stalling, stop := context.WithCancel(t.Context())
	var stalls sync.WaitGroup
	if callers == 1000 {
		stalls.Go(func() { c.stall(stalling) })
	}
	patience, cancel := context.WithTimeout(context.Background(), 4*hang)
	defer cancel()
	var all [rooms]room
	var crowd sync.WaitGroup
	for caller := range callers {
		crowd.Go(func() {
			r := &all[caller%rooms]
			l, err := clients[caller%len(clients)].Acquire(patience, fmt.Sprint("room ", caller%rooms))
			if err != nil {
				t.Error(err)
				return
			}
			if others := r.inside.Add(1); others != 1 {
				t.Errorf("room %d: %d inside", caller%rooms, others)
			}
			if l.Token() <= r.last {
				t.Errorf("room %d: token %d after %d", caller%rooms, l.Token(), r.last)
			}
			r.last = l.Token()
			runtime.Gosched()
			r.entered.Add(1)
			r.inside.Add(-1)
			if err := l.Release(patience); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	stop()
	stalls.Wait()
	for i := range all {
		if n := all[i].entered.Load(); int(n) != callers/rooms {
			t.Errorf("room %d was entered %d times", i, n)
		}
	}
	c.willBeFree()
	for _, client := range clients {
		must(t, client.Close())
	}
	if stacks := goroutinesAbove(before); stacks != "" {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
}

// canPause tells redis-servers from embedded nodes.
func (c *cluster) canPause() bool {
	if c.nodes[0].Pause(bounded(c.t)) != nil {
		return false
	}
	c.resume(0)
	return true
}

// stall stops one or two masters for a moment, again and again, until ctx ends.
func (c *cluster) stall(ctx context.Context) {
	random := rand.New(rand.NewPCG(7, 7))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		stopped := random.Perm(5)[:1+random.IntN(2)]
		c.pause(stopped...)
		<-tick.C
		c.resume(stopped...)
		<-tick.C
	}
}
