package schemes

import (
	"context"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// setnxExpire gives setnx an expiry, by a second command. A client that dies between the two, or whose PEXPIRE is lost,
// leaves a key that never expires, so "Deadlock free" ("Distributed locks with Redis", "Safety and Liveness
// Guarantees") is still not had. The same page sets key and expiry in one command ("Correct Implementation with a Single
// Instance").
var setnxExpire = chaos.Scheme{
	Name:    "setnx-expire",
	About:   "one master: SETNX, then PEXPIRE as a second command: for ever locked when the client dies between",
	Masters: 1,
	Open: oneKey(steps{
		acquire: func(k *key, ctx context.Context) error {
			if err := k.setnx(ctx); err != nil {
				return err
			}
			return k.pexpire(ctx)
		},
		extend:  (*key).pexpire,
		release: (*key).del,
	}),
}
