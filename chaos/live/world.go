package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// world is one run's servers, clients and resource. It implements [chaos.World].
type world struct {
	ctx      context.Context
	start    time.Time
	scheme   chaos.Scheme
	ttl      time.Duration
	pool     *Pool
	nodes    []Node // that the scheme uses, of the pool
	durable  bool
	resource *resource
	clients  map[int]*client
}

func (w *world) Now() time.Duration { return time.Since(w.start) }

func (w *world) Wait(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

func (w *world) Client(number int) (chaos.Client, error) {
	c, err := startClient(w.ctx, setup{
		Name:     strconv.Itoa(number),
		Scheme:   w.scheme.Name,
		Resource: w.resource.url(),
		Lock:     w.pool.Lock(),
		TTL:      w.ttl,
	}, w.nodes)
	if err != nil {
		return nil, err
	}
	w.clients[number] = c
	return c, nil
}

func (w *world) node(name string) (Node, error) {
	i := slices.IndexFunc(w.nodes, func(n Node) bool { return n.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no master %s", name)
	}
	return w.nodes[i], nil
}

func (w *world) StepClock(master string, d time.Duration) (string, error) {
	n, err := w.node(master)
	if err != nil {
		return "", err
	}
	proof, err := n.StepClock(w.ctx, d)
	return "Redis " + proof.String(), err
}

// Restart proves itself by what the master knows before and after.
func (w *world) Restart(master string) (string, error) {
	n, err := w.node(master)
	if err != nil {
		return "", err
	}
	before, err := w.keys(n)
	if err != nil {
		return "", err
	}
	if err := errors.Join(n.Kill(w.ctx), n.Restart(w.ctx)); err != nil {
		return "", err
	}
	after, err := w.keys(n)
	if err != nil {
		return "", err
	}
	if before == 0 || (after > 0) != w.durable {
		return "", fmt.Errorf("%w: it had %d keys before and %d after", ErrNoEffect, before, after)
	}
	return fmt.Sprintf("it had %d keys and has %d", before, after), nil
}

func (w *world) keys(n Node) (int, error) {
	got, err := n.Ask(w.ctx, "DBSIZE")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(got[0])
}

func (w *world) Counter(master string) (redlock.Token, error) {
	n, err := w.node(master)
	if err != nil {
		return 0, err
	}
	got, err := n.Ask(w.ctx, "GET", redlock.Command{Name: w.pool.Lock()}.Counter())
	if err != nil {
		return 0, err
	}
	counter, err := strconv.ParseUint(got[0], 10, 64)
	return redlock.Token(counter), err
}

// recovers reports whether the lock can be had again when the faults are over and the holders have left: by a client
// that took no part, within a few leases.
func (w *world) recovers() (bool, error) {
	var err error
	for _, c := range w.clients {
		err = errors.Join(err, c.heal())
	}
	if err != nil {
		return false, err
	}
	fresh, err := w.Client(0)
	if err != nil {
		return false, err
	}
	grant, err := fresh.Acquire(3*w.ttl, "")
	return err == nil && grant.Granted, err
}

func (w *world) close() error {
	var err error
	for _, c := range w.clients {
		err = errors.Join(err, c.close())
	}
	if w.resource != nil {
		err = errors.Join(err, w.resource.close())
	}
	return errors.Join(err, w.pool.Give(w.nodes))
}
