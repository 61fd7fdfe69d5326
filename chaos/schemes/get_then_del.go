package schemes

import (
	"context"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// getThenDel looks whose key it is before it deletes it, but as two commands. When the lease ends and the next holder
// comes between them, its lock is deleted nevertheless. "Distributed locks with Redis", "Correct Implementation with a
// Single Instance", compares and deletes in one script for that reason. It extends in the same two steps.
var getThenDel = chaos.Scheme{
	Name:    "get-then-del",
	About:   "one master: SET NX PX with an own value, released by GET, a look, and DEL as two commands",
	Masters: 1,
	Open: oneKey(steps{
		acquire: (*key).set,
		extend:  ifOurs((*key).pexpire),
		release: ifOurs((*key).del),
	}),
}

// ifOurs takes a step if the key was ours a moment before.
func ifOurs(step func(*key, context.Context) error) func(*key, context.Context) error {
	return func(k *key, ctx context.Context) error {
		value, ok, err := k.env.Plain.Do(ctx, 0, "GET", k.name)
		switch {
		case err != nil:
			return err
		case !ok:
			return redlock.ErrExpired
		case value != k.value:
			return redlock.ErrLost
		}
		return step(k, ctx)
	}
}
