package schemes

import (
	"context"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// redlockHere is the client of this project, unchanged.
var redlockHere = chaos.Scheme{
	Name:    "redlock",
	About:   "this project's client on five masters: validity checked, fencing token from the quorum",
	Masters: 5,
	Open:    func(env chaos.Env) (chaos.Locker, error) { return openRedlock(env) },
}

func openRedlock(env chaos.Env, opts ...redlock.Option) (chaos.Locker, error) {
	opts = append(opts,
		redlock.WithClock(env.Clock),
		redlock.WithRandom(env.Random),
		redlock.WithTTL(env.TTL),
		redlock.WithNodeTimeout(env.TTL/2)) // generous, since a busy machine is no part of any scenario
	c, err := redlock.NewOver(env.Masters, opts...)
	if err != nil {
		return nil, err
	}
	return redlockClient{c}, nil
}

type redlockClient struct{ client *redlock.Client }

func (c redlockClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	l, err := c.client.TryAcquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return l, nil
}
