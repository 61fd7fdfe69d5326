package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

func TestReentrantHandlesAreOneHoldReleasedWithTheLast(t *testing.T) {
	c := masters(t, 5)
	client := c.client(redlock.WithReentrant())
	outer := take(t, client, "lock")
	inner, err := client.TryAcquire(outer.Context(), "lock")
	must(t, err)
	innermost, err := client.Acquire(inner.Context(), "lock")
	must(t, err)
	if outer.Token() != inner.Token() || inner.Token() != innermost.Token() {
		t.Errorf("tokens %d, %d, %d", outer.Token(), inner.Token(), innermost.Token())
	}
	c.willHaveRun("lock")
	drop(t, outer) // in any order
	drop(t, innermost)
	if held := c.held("lock"); held != 5 {
		t.Errorf("%d masters hold it while a handle is left", held)
	}
	must(t, inner.Err())
	must(t, inner.Context().Err())
	must(t, inner.Extend(bounded(t)))
	drop(t, inner)
	c.willBeFree()
	mustBe(t, context.Cause(inner.Context()), redlock.ErrReleased)
}

func TestAHandleIsOfNoUseAfterItsRelease(t *testing.T) {
	m := newModel(5)
	client := m.client(t, redlock.WithReentrant())
	outer := take(t, client, "lock")
	inner, err := client.TryAcquire(outer.Context(), "lock")
	must(t, err)
	drop(t, inner)
	mustBe(t, inner.Release(t.Context()), redlock.ErrReleased)
	mustBe(t, inner.Extend(t.Context()), redlock.ErrReleased)
	mustBe(t, inner.Err(), redlock.ErrReleased)
	mustBe(t, context.Cause(inner.Context()), redlock.ErrReleased)
	if left := inner.Remaining(); left != 0 {
		t.Errorf("%v are left to it", left)
	}
	must(t, outer.Err())
	must(t, outer.Context().Err())
	if m.held("lock") != 5 || outer.Remaining() != lease {
		t.Errorf("%d masters hold it, %v are left", m.held("lock"), outer.Remaining())
	}
	drop(t, outer)
	mustBe(t, outer.Release(t.Context()), redlock.ErrReleased)
	if held := m.held("lock"); held != 0 {
		t.Errorf("%d masters hold it", held)
	}
}

func TestNestedDosShareTheLock(t *testing.T) {
	m := newModel(5)
	client := m.client(t, redlock.WithReentrant())
	depth := 0
	var nest func(ctx context.Context, l *redlock.Lock) error
	nest = func(ctx context.Context, l *redlock.Lock) error {
		if depth++; depth < 4 {
			must(t, client.Do(ctx, "lock", nest))
		}
		must(t, l.Err())
		must(t, ctx.Err())
		if held := m.held("lock"); held != 5 {
			t.Errorf("%d masters hold it", held)
		}
		return nil
	}
	must(t, client.Do(t.Context(), "lock", nest))
	if depth != 4 || m.held("lock") != 0 || len(m.asked(redlock.OpAcquire)) != 1 || len(m.asked(redlock.OpRelease)) != 1 {
		t.Errorf("depth %d, %d masters hold it: %+v", depth, m.held("lock"), m.commands())
	}
}

func TestALockDoesNotNestWhereItIsNotToldTo(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	l := take(t, client, "lock")
	_, err := client.TryAcquire(l.Context(), "lock")
	mustBe(t, err, redlock.ErrHeld)

	reentrant := m.client(t, redlock.WithReentrant())
	_, err = reentrant.TryAcquire(t.Context(), "lock") // a context without the lock
	mustBe(t, err, redlock.ErrHeld)
	_, err = reentrant.TryAcquire(l.Context(), "lock") // another client's lock
	mustBe(t, err, redlock.ErrHeld)
	other, err := client.TryAcquire(l.Context(), "other lock", redlock.WithReentrant())
	must(t, err)
	if other.Token() == l.Token() && m.held("other lock") != 5 {
		t.Error("another name got the same lock")
	}
	both, err := client.TryAcquire(other.Context(), "lock", redlock.WithReentrant()) // through the other's context
	must(t, err)
	for _, l := range []*redlock.Lock{both, other, l} {
		drop(t, l)
	}
	if m.held("lock") != 0 || m.held("other lock") != 0 {
		t.Errorf("%d and %d masters hold them", m.held("lock"), m.held("other lock"))
	}
}

func TestACarriedLockThatWasLostIsNotEnteredAgain(t *testing.T) {
	for what, test := range map[string]struct {
		lose func(m *model, l *redlock.Lock)
		as   error
	}{
		"expired":  {func(m *model, l *redlock.Lock) { m.clock.Advance(lease) }, redlock.ErrExpired},
		"released": {func(m *model, l *redlock.Lock) { drop(t, l) }, redlock.ErrReleased},
		"taken": {func(m *model, l *redlock.Lock) {
			m.put("lock", "somebody", 0, 1, 2)
			m.clock.Advance(time.Second)
			l.Extend(context.Background())
		}, redlock.ErrLost},
	} {
		t.Run(what, func(t *testing.T) {
			m := newModel(5)
			client := m.client(t, redlock.WithReentrant())
			l := take(t, client, "lock")
			test.lose(m, l)
			asked := len(m.commands())
			carrying := context.WithoutCancel(l.Context())
			_, err := client.TryAcquire(carrying, "lock")
			mustBe(t, err, test.as)
			_, err = client.Acquire(carrying, "lock")
			mustBe(t, err, test.as)
			mustBe(t, client.Do(carrying, "lock", mustNotRun(t)), test.as)
			if more := m.commands()[asked:]; len(more) > 0 {
				t.Errorf("asked: %+v", more)
			}
		})
	}
}
