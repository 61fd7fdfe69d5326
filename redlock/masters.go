package redlock

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Masters sends one command to every master and yields the replies as they arrive. It is, with clock.Clock, all
// that the algorithm knows of the world: [New] puts go-redis behind it, a simulation puts itself there.
//
// Commands of one lock must reach each master in the order in which they were sent.
type Masters interface {
	// Len returns the number of masters: the n of which a quorum is a part. It never changes.
	Len() int

	// Send starts sending when the iteration starts, to all masters at once. It yields at most one reply for each
	// master asked, in order of arrival: a master that has not answered within cmd.Timeout yields an error that is
	// an os.ErrDeadlineExceeded, so the iteration ends by itself. When ctx ends it ends early, without the
	// replies that are missing. Breaking out of the loop recalls nothing: what was sent is still carried out.
	Send(ctx context.Context, cmd Command) iter.Seq[Reply]
}

// Op says what a [Command] asks of a master. Each has a script of its name in the folder scripts.
type Op uint8

// The operations.
const (
	OpAcquire Op = iota // take the lock if it is free, and count the grant
	OpConfirm           // if the lock is ours and the counter not above the token: set the counter to the token
	OpExtend            // if the lock is ours: prolong its lease
	OpRepair            // if the lock is free: set it again for the rest of the lease
	OpRelease           // if the lock is ours: delete it
)

func (op Op) String() string {
	if names := [...]string{"acquire", "confirm", "extend", "repair", "release"}; int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("Op(%d)", op)
}

// A Command is one request, sent alike to every master.
type Command struct {
	Op        Op
	Name      string        // of the lock, which is its key
	Value     string        // of this attempt: what tells our key from anybody else's
	Token     Token         // acquire: a proposal, which is a hint only; confirm, extend, repair: the token
	TTL       time.Duration // acquire, extend, repair: the lease, in whole milliseconds
	Retention time.Duration // how long the counter outlives its last use, in whole milliseconds; 0 = for ever
	Timeout   time.Duration // how long a master may take to answer
	Nodes     []int         // which masters to ask; nil = all
}

// Counter returns the key of the lock's counter, in the same hash slot as the lock: {name}:fence, or name:fence
// for a name with a hash tag of its own. (A name that holds a closing brace but no hash tag cannot be put into a
// tag; on a cluster its two keys may lie in different slots, and the cluster refuses them.)
func (c Command) Counter() string {
	if _, rest, ok := strings.Cut(c.Name, "{"); ok && strings.IndexByte(rest, '}') > 0 {
		return c.Name + counterSuffix
	}
	return "{" + c.Name + "}" + counterSuffix
}

const counterSuffix = ":fence"

// Status is a master's answer to a [Command].
type Status uint8

// The answers.
const (
	Done  Status = iota // granted, confirmed, extended, repaired, released
	Held                // the lock holds another's value
	Gone                // there is no such key
	Ahead               // confirm: the lock is ours, but the counter is above the token
)

func (s Status) String() string {
	if names := [...]string{"done", "held", "gone", "ahead"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Status(%d)", s)
}

// A Reply is what one master made of a [Command].
type Reply struct {
	Node    int    // the master's index
	Status  Status // means nothing if there is an Err
	Counter Token  // the lock's counter there, where the operation reports it
	Err     error  // no answer, or a refusal by the server
}
