package schemes

import (
	"context"
	"fmt"
	"strconv"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// steps are what tells apart the schemes that keep the lock as one key on one master and know no scripts: which
// commands they send, and in which order. Without an extend there is nothing to extend.
type steps struct {
	acquire, extend, release func(*key, context.Context) error
}

// oneKey returns the Open of such a scheme.
func oneKey(s steps) func(chaos.Env) (chaos.Locker, error) {
	return func(env chaos.Env) (chaos.Locker, error) { return keyClient{env, s}, nil }
}

type keyClient struct {
	env   chaos.Env
	steps steps
}

func (c keyClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	value, err := draw(c.env)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", name, err)
	}
	k := &key{lease: lease{clock: c.env.Clock}, env: c.env, steps: c.steps, name: name, value: value}
	if err := c.steps.acquire(k, ctx); err != nil {
		return nil, fmt.Errorf("acquire %q: %w", name, err)
	}
	return k, nil
}

// key is the lock's key, as one attempt sets it.
type key struct {
	lease
	env         chaos.Env
	steps       steps
	name, value string
}

func (k *key) Token() redlock.Token { return 0 }

func (k *key) Extend(ctx context.Context) error {
	if k.steps.extend == nil {
		return nil
	}
	if err := k.steps.extend(k, ctx); err != nil {
		return fmt.Errorf("extend %q: %w", k.name, err)
	}
	return nil
}

func (k *key) Release(ctx context.Context) error {
	if err := k.steps.release(k, ctx); err != nil {
		return fmt.Errorf("release %q: %w", k.name, err)
	}
	return nil
}

// setnx takes the lock without an expiry.
func (k *key) setnx(ctx context.Context) error {
	if err := k.count(ctx, redlock.ErrHeld, "SETNX", k.name, k.value); err != nil {
		return err
	}
	k.begin(forever)
	return nil
}

// set takes the lock, key and expiry in one command.
func (k *key) set(ctx context.Context) error {
	_, ok, err := k.env.Plain.Do(ctx, 0, "SET", k.name, k.value, "NX", "PX", k.milliseconds())
	switch {
	case err != nil:
		return err
	case !ok:
		return redlock.ErrHeld
	}
	k.begin(k.env.TTL)
	return nil
}

// pexpire gives the key the whole TTL, whosever it is.
func (k *key) pexpire(ctx context.Context) error {
	if err := k.count(ctx, redlock.ErrExpired, "PEXPIRE", k.name, k.milliseconds()); err != nil {
		return err
	}
	k.begin(k.env.TTL)
	return nil
}

// del deletes the key, whosever it is.
func (k *key) del(ctx context.Context) error {
	return k.count(ctx, redlock.ErrExpired, "DEL", k.name)
}

// count sends a command that answers how many keys it changed; none is the error given.
func (k *key) count(ctx context.Context, none error, command ...string) error {
	text, _, err := k.env.Plain.Do(ctx, 0, command...)
	if err == nil && text == "0" {
		return none
	}
	return err
}

func (k *key) milliseconds() string { return strconv.FormatInt(k.env.TTL.Milliseconds(), 10) }
