// Package redlock is a distributed lock on a quorum of independent Redis masters, with fencing tokens.
//
//	locks, err := redlock.Connect(ctx, urls) // five masters
//	...
//	l, err := locks.Acquire(ctx, "invoice:4711")
//	if err != nil {
//		return err
//	}
//	defer l.Release(context.WithoutCancel(ctx))
//	res, err := db.ExecContext(l.Context(),
//		`UPDATE invoice SET state = 'sent', token = $1 WHERE id = 4711 AND token <= $1`, int64(l.Token()))
//	if err != nil {
//		return err
//	}
//	if n, err := res.RowsAffected(); err != nil || n == 0 {
//		return errors.Join(err, errStale) // a later holder has been here
//	}
//
// The statement's WHERE is what protects the invoice; the lock saves work.
//
// # What is guaranteed
//
// As long as no master forgets what it has acknowledged, the masters' clocks run at rates that differ by less than the
// drift, and the holder notices the end of its lease, at most one client holds a lock ("Distributed locks with Redis",
// safety property A).
//
// As long as a majority of the masters answers, a lock can be acquired (liveness property C), and one whose holder is gone
// is free within its TTL (liveness property B). A stalled master delays nobody: no question waits for it longer than the
// node timeout, whatever time-outs the go-redis client has, and none waits for it once a quorum has granted.
//
// Whatever the clocks and the pauses do, as long as the masters keep the counters that they have acknowledged:
//
//   - Two grants of one lock have different tokens, and if one grant was returned before another was asked for, its token
//     is the smaller one. (Kleppmann, "How to do distributed locking", says that Redlock has no way to make fencing tokens.
//     That is true of counters alone. A master that holds our value cannot grant to another, and that is enough:
//     docs/tokens.md has the proof.)
//
// And for the caller: bad input is refused before any command is sent; the loss of a lock is signalled once, through
// [Lock.Context], and never taken back. No key and no goroutine outlives its bound, also when a context is cancelled: a key
// that a failed attempt or a release leaves on a master that did not answer is deleted when it answers again within the
// TTL, and otherwise lives for a TTL from when that master carries out what it was sent. Clients that are no *redis.Client
// must have time-outs of their own: behind one without, a silent connection is waited for without end.
//
// # What is not guaranteed
//
// A holder that sleeps past its lease is not alone any more, and cannot know. The garbage collector, a stopped virtual
// machine, a packet on its way to the resource: no check before the write helps, since the pause may come after the check
// (Kleppmann, "Protecting a resource with a lock"). So the lock is an efficiency device. For correctness send
// [Lock.Token] with every operation, reads included, and have the resource refuse a token below the largest it has seen.
//
// A master whose clock jumps lets go of its locks early; a master that restarts without its data has forgotten them. Either
// can let a second client in while the first one works; tokens still differ and order.
//
// It takes two independent faults, lost memory and a clock that ran backwards, to repeat a token: a master that forgets its
// counter, and proposals (which come from the clients' wall clocks) that do not exceed the older tokens. The damage then is
// worse than none: the rightful holder may be refused. Run the masters with appendonly yes, appendfsync always and
// maxmemory-policy noeviction; [Client.Check] warns where they are not.
//
// A lock that stands on a bare quorum (the other masters were slow, or held by a rival that then gave up) is lost when one
// master of that quorum is: extensions find too few that have the key, and repair needs a quorum that has it. It ends with
// its lease, although a majority is up.
//
// Grants that overlap in time have different tokens, in no promised order.
//
// # Time
//
// A lease is measured by the larger of two readings, the boot-time clock and the wall clock, from before the first command
// was sent. So a machine that was suspended knows on waking that its leases are over, a wall clock that is stepped forward
// shortens a lease, and one that is stepped back changes nothing. No client's timestamp goes to a master, but for the
// proposal of a token, which is a hint.
//
// # Seams
//
// The algorithm is sequential code over two interfaces, [Masters] and clock.Clock. [NewOver] runs it in a world of one's
// own: the project's simulations and adversarial tests do.
package redlock
