package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

func flushScripts(ctx context.Context, eye *redis.Client) error { return eye.ScriptFlush(ctx).Err() }

func TestScriptFlushBetweenTwoCommandsChangesNothing(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	var last redlock.Token
	for round := range 10 {
		c.each(flushScripts)
		l := take(t, client, "lock")
		if l.Token() <= last {
			t.Errorf("round %d: token %d after %d", round, l.Token(), last)
		}
		last = l.Token()
		c.each(flushScripts)
		must(t, l.Extend(bounded(t)))
		c.each(flushScripts)
		drop(t, l)
	}
	c.willBeFree()
}

func TestScriptFlushInTheMiddleOfTrafficChangesNothing(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	flushing, stop := context.WithCancel(t.Context())
	var flushes sync.WaitGroup
	for _, eye := range c.eyes {
		flushes.Go(func() {
			for flushing.Err() == nil {
				eye.ScriptFlush(flushing)
			}
		})
	}
	var callers sync.WaitGroup
	for caller := range 16 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(caller)))
			name := fmt.Sprint("lock ", caller)
			for range 60 {
				if err := acquireOrCancel(client, name, random.IntN(3) == 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
	stop()
	flushes.Wait()
	must(t, client.Close())
	if left := c.locks(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// acquireOrCancel takes a lock, extends it and releases it, or cancels the acquire on its way.
func acquireOrCancel(client *redlock.Client, name string, cancelled bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if cancelled {
		go cancel()
	}
	l, err := client.Acquire(ctx, name)
	switch {
	case cancelled && errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	}
	if err := l.Extend(context.Background()); err != nil {
		return err
	}
	return l.Release(context.Background())
}

// An acquire and its release wait for a slow master and go out as one pipeline. The master knows the script of the
// second but not that of the first: sending again only what it did not know would turn them around.
func TestAReleaseInOnePipelineWithItsAcquireStaysBehindItWhenOnlyTheAcquireIsUnknown(t *testing.T) {
	c := masters(t, 5)
	clients, slow := c.warm(c.clients()), new(gate)
	clients[4] = hooked(t, c.nodes[4].Addr(), slow)
	together := 0
	for round := range 20 {
		name := fmt.Sprint("lock ", round)
		client := newClient(t, clients)
		slow.shut()
		blocker := take(t, client, "blocker") // by the four; its pipeline blocks the fifth
		eventually(t, "the slow master's pipeline is blocked", slow.blocks)

		c.set(name, "somebody", 0, 1, 2, 3)
		_, err := client.TryAcquire(bounded(t), name)
		mustBe(t, err, redlock.ErrHeld)
		c.each(flushScripts, 4)
		c.each(load("release"), 4)
		slow.open()
		c.willHaveRun(name, 4)
		drop(t, blocker)
		must(t, client.Close()) // when nothing is on its way any more
		if slow.largestPipeline() > 1 {
			together++
		}
		if value := c.get(name)[4]; value != "" {
			t.Fatalf("round %d: the acquire was carried out after its release", round)
		}
	}
	if together == 0 {
		t.Error("never did an acquire and its release go out together")
	}
}

// A release and the next acquire of the same lock wait for a slow master, which knows the script of the second alone:
// at first that finds the lock held, by the one whose release is sent again, and then it is granted.
func TestAnAcquireThatIsRefusedAndThenGrantedInOnePipelineIsTakenBack(t *testing.T) {
	c := masters(t, 5)
	clients, slow := c.warm(c.clients()), new(gate)
	clients[4] = hooked(t, c.nodes[4].Addr(), slow)
	client := newClient(t, clients)
	l := take(t, client, "lock")
	c.willHaveRun("lock")
	slow.shut()
	take(t, client, "blocker") // by the four; its pipeline blocks the fifth
	eventually(t, "the slow master's pipeline is blocked", slow.blocks)

	drop(t, l)
	c.set("lock", "somebody", 0, 1)
	l, err := client.TryAcquire(bounded(t), "lock", redlock.WithTrace(moment{1, 1}.at(func() {
		c.each(flushScripts, 4)
		c.each(load("acquire"), 4)
		slow.open()
	})))
	if err == nil {
		drop(t, l) // the fifth was the third to grant
	} else {
		mustBe(t, err, redlock.ErrHeld)
	}
	must(t, client.Close())
	if slow.largestPipeline() < 2 {
		t.Error("the release and the acquire did not go out together: the test shows nothing")
	}
	if value := c.get("lock")[4]; value != "" {
		t.Error("the acquire was carried out, and was not taken back")
	}
}

// load makes a script known, as another client's use of it would.
func load(script string) func(ctx context.Context, eye *redis.Client) error {
	return func(ctx context.Context, eye *redis.Client) error {
		prelude, err := os.ReadFile("scripts/prelude.lua")
		if err != nil {
			return err
		}
		body, err := os.ReadFile("scripts/" + script + ".lua")
		if err != nil {
			return err
		}
		return eye.ScriptLoad(ctx, string(prelude)+string(body)).Err()
	}
}
