package redlock_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

var errOwn = errors.New("an error of the caller's own")

func TestDoRunsUnderTheLockAndReleasesIt(t *testing.T) {
	m := newModel(5)
	ran := false
	must(t, m.client(t).Do(t.Context(), "lock", func(ctx context.Context, l *redlock.Lock) error {
		ran = true
		if m.held("lock") != 5 || l.Err() != nil || ctx.Err() != nil || l.Token() == 0 {
			t.Errorf("%d masters hold it, %v, %v, token %d", m.held("lock"), l.Err(), ctx.Err(), l.Token())
		}
		return nil
	}))
	if !ran || m.held("lock") != 0 {
		t.Errorf("ran: %v; %d masters hold it", ran, m.held("lock"))
	}
}

func TestDoReturnsTheErrorOfItsFunctionAsItIs(t *testing.T) {
	m := newModel(5)
	if err := m.client(t).Do(t.Context(), "lock", func(context.Context, *redlock.Lock) error { return errOwn }); err != errOwn {
		t.Errorf("got %v", err)
	}
}

func TestAPanicUnderDoReachesTheCallerAndReleasesTheLock(t *testing.T) {
	c := masters(t, 5)
	client := c.client()
	defer func() {
		if got := recover(); got != errOwn {
			t.Errorf("recovered %v", got)
		}
		c.willBeFree()
		drop(t, take(t, client, "lock"))
	}()
	client.Do(bounded(t), "lock", func(context.Context, *redlock.Lock) error { panic(errOwn) })
	t.Error("the panic did not reach the caller")
}

func TestGoexitUnderDoEndsTheGoroutineAndReleasesTheLock(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- returned }()
		client.Do(context.Background(), "lock", func(context.Context, *redlock.Lock) error {
			runtime.Goexit()
			return nil
		})
		returned = true
	}()
	if <-ended {
		t.Error("Do returned")
	}
	if held := m.held("lock"); held != 0 {
		t.Errorf("%d masters hold the lock", held)
	}
}

func TestDoTellsThatTheLockWasLost(t *testing.T) {
	for what, lose := range map[string]struct {
		how func(m *model, l *redlock.Lock)
		as  error
	}{
		"expired": {func(m *model, l *redlock.Lock) { m.clock.Advance(lease) }, redlock.ErrExpired},
		"taken": {func(m *model, l *redlock.Lock) {
			m.put("lock", "somebody", 0, 1, 2)
			m.clock.Advance(time.Second)
			l.Extend(context.Background())
		}, redlock.ErrLost},
	} {
		t.Run(what, func(t *testing.T) {
			for _, own := range []error{nil, errOwn} {
				m := newModel(5)
				err := m.client(t).Do(t.Context(), "lock", func(ctx context.Context, l *redlock.Lock) error {
					lose.how(m, l)
					if ctx.Err() == nil {
						t.Error("the function's context has not ended")
					}
					mustBe(t, context.Cause(ctx), lose.as)
					return own
				})
				mustBe(t, err, lose.as)
				if own != nil {
					mustBe(t, err, own)
				}
			}
		})
	}
}

func TestTheContextUnderDoEndsWithTheCallers(t *testing.T) {
	m := newModel(5)
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), redlock.MinTTL, "value"))
	err := m.client(t).Do(ctx, "lock", func(ctx context.Context, l *redlock.Lock) error {
		if ctx.Value(redlock.MinTTL) != "value" {
			t.Error("the caller's values are missing")
		}
		cancel(errOwn)
		<-ctx.Done()
		mustBe(t, context.Cause(ctx), errOwn)
		must(t, l.Err()) // the lock itself still stands
		return ctx.Err()
	})
	mustBe(t, err, context.Canceled)
	if held := m.held("lock"); held != 0 {
		t.Errorf("%d masters hold the lock", held)
	}
}

// With Acquire, in contrast, the caller's context bounds the waiting and not the lock.
func TestTheContextOfAnAcquiredLockOutlivesTheCallers(t *testing.T) {
	m := newModel(5)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := m.client(t).Acquire(ctx, "lock")
	must(t, err)
	cancel()
	must(t, l.Context().Err())
	must(t, l.Err())
	drop(t, l)
}

func TestDoThatGetsNoLockDoesNotRun(t *testing.T) {
	m := newModel(5)
	m.put("lock", "somebody", 0, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	m.before = func(redlock.Command) { cancel() }
	err := m.client(t).Do(ctx, "lock", func(context.Context, *redlock.Lock) error {
		t.Error("it ran")
		return nil
	})
	mustBe(t, err, context.Canceled)
}

func TestDoWhoseFunctionReleasesTheLockItselfIsNoError(t *testing.T) {
	m := newModel(5)
	must(t, m.client(t).Do(t.Context(), "lock", func(ctx context.Context, l *redlock.Lock) error { return l.Release(ctx) }))
}

func TestDoDoesNotFailForAReleaseWithoutAQuorum(t *testing.T) {
	m := newModel(5)
	must(t, m.client(t).Do(t.Context(), "lock", func(context.Context, *redlock.Lock) error {
		m.fate = these(unanswered, 0, 1, 2)
		return nil
	}))
}
