package redlock_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestCloseWaitsUntilAFailedAttemptIsTakenBack(t *testing.T) {
	c := masters(t, 5)
	clients := c.warm(c.clients())
	cancelled := 0
	for round := 0; round < 200 && cancelled < 20; round++ {
		client := newClient(t, clients)
		ctx, cancel := context.WithCancel(bounded(t))
		l, err := client.TryAcquire(ctx, "lock", redlock.WithTrace(moment{1, 1}.at(cancel)))
		if err == nil {
			drop(t, l) // the other answers had come by then
		} else {
			mustBe(t, err, context.Canceled)
			cancelled++
		}
		must(t, client.Close())
		if left := c.locks(); len(left) > 0 {
			t.Fatalf("left behind: %q", left)
		}
	}
	if cancelled == 0 {
		t.Error("no attempt was cancelled: the test shows nothing")
	}
}

func TestCloseDoesNotWaitLongForAMasterThatIsStopped(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	client := newClient(t, c.warm(c.clients()), redlock.WithNodeTimeout(500*time.Millisecond))
	c.pause(0, 1, 2)
	_, err := client.TryAcquire(bounded(t), "lock")
	mustBe(t, err, redlock.ErrNoQuorum)
	must(t, promptly(t, "Close", func(context.Context) error { return client.Close() }))
	c.resume(0, 1, 2)
}

func TestCloseLetsLocksThatAreHeldRunOut(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	l := take(t, client, "lock", redlock.WithAutoExtend(time.Hour))
	m.clock.Advance(5 * time.Second)
	until := l.Until()
	must(t, client.Close())
	extended := len(m.asked(redlock.OpExtend))
	m.clock.Advance(l.Remaining() - 1)
	must(t, l.Err())
	m.clock.Advance(1)
	mustBe(t, context.Cause(l.Context()), redlock.ErrExpired)
	if again := len(m.asked(redlock.OpExtend)); again != extended || !l.Until().Equal(until) {
		t.Errorf("extended %d times after Close, until %v", again-extended, l.Until())
	}
}

func TestALockMayBeReleasedAfterClose(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	l := take(t, client, "lock")
	must(t, client.Close())
	drop(t, l)
	if held := m.held("lock"); held != 0 {
		t.Errorf("%d masters hold it", held)
	}
}

func TestCloseEndsAnAcquireThatWaits(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	m.put("lock", "somebody", 0, 1, 2)
	waited := make(chan error, 1)
	go func() {
		_, err := client.Acquire(context.Background(), "lock")
		waited <- err
	}()
	eventually(t, "it waits", func() bool { return m.clock.Waiters() > 0 })
	must(t, client.Close())
	eventually(t, "it ends", func() bool {
		m.clock.Advance(redlock.DefaultRetryMax)
		return len(waited) > 0
	})
	mustBe(t, <-waited, redlock.ErrInvalid, redlock.ErrHeld)
}

func TestNothingRunsOnAfterClose(t *testing.T) {
	c := masters(t, 5)
	clients := c.warm(c.clients())
	before := runtime.NumGoroutine()
	client := newClient(t, clients, redlock.WithTTL(time.Minute), redlock.WithAutoExtend(time.Hour))
	for _, name := range []string{"a", "b", "c"} {
		l := take(t, client, name)
		if name != "c" {
			drop(t, l)
		}
	}
	_, err := client.TryAcquire(bounded(t), "c")
	mustBe(t, err, redlock.ErrHeld)
	must(t, client.Close())
	if stacks := goroutinesAbove(before); stacks != "" {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
}

func TestCloseEndsTheConnectionsThatConnectMade(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	connections := func() (open int) {
		c.each(func(ctx context.Context, eye *redis.Client) error {
			list, err := eye.Do(ctx, "CLIENT", "LIST", "TYPE", "NORMAL").Text()
			for _, b := range list {
				if b == '\n' {
					open++
				}
			}
			return err
		})
		return open
	}
	before := connections()
	client, err := redlock.Connect(bounded(t), c.urls())
	must(t, err)
	drop(t, take(t, client, "lock"))
	if connections() <= before {
		t.Error("no connections were made")
	}
	must(t, client.Close())
	must(t, client.Close())
	eventually(t, "the connections are gone", func() bool { return connections() == before })
	_, err = redlock.Connect(bounded(t), append(c.urls(), c.urls()[0])) // is refused after it has connected
	mustBe(t, err, redlock.ErrInvalid)
	eventually(t, "the connections are gone", func() bool { return connections() == before })
}
