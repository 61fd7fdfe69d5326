package chaos

import (
	"errors"
	"fmt"
	"sync"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A Guard is what the protected resource checks of the operations that reach it.
type Guard string

const (
	// GuardNone checks nothing: the lock alone protects the resource.
	GuardNone Guard = "none"

	// GuardWrites refuses a write whose token is below the largest that it has seen on a write (Kleppmann, "Making the
	// lock safe with fencing"). It does not save a read-modify-write: a holder that sleeps between its read and its write
	// passes if it wakes before the next holder's first write, which then overwrites what it has not read.
	GuardWrites Guard = "writes"

	// GuardAll has reads carry the token too, and raise the mark: who reads announces itself, and from then on
	// everybody before it is refused.
	GuardAll Guard = "all"
)

// Guards are all guards, the weakest first.
func Guards() []Guard { return []Guard{GuardNone, GuardWrites, GuardAll} }

// GuardByName returns one guard.
func GuardByName(name string) (Guard, error) {
	return ByName("guard", Guards(), name, func(g Guard) string { return string(g) })
}

// ErrStale is what a guard answers to a token below the largest it has seen.
var ErrStale = errors.New("stale fencing token")

// A Register is the protected resource: a counter that clients read, add one to, and write back. It keeps the record
// from which the damage is counted, whatever the clients believe.
type Register struct {
	guard  Guard
	record func(Event)

	mu      sync.Mutex
	value   int
	mark    redlock.Token // the largest token that the guard has taken notice of
	largest redlock.Token // the largest token seen at all, by which stale writes are known
	version int           // writes accepted so far
	read    map[string]int
}

// NewRegister returns a register at 0 that reports what reaches it to record.
func NewRegister(guard Guard, record func(Event)) *Register {
	return &Register{guard: guard, record: record, read: map[string]int{}}
}

// Read returns the value. It fails with ErrStale if the guard refuses.
func (r *Register) Read(client string, token redlock.Token) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := Event{Actor: client, Kind: Read, Token: token, Value: r.value}
	defer func() { r.record(e) }()
	if r.guard == GuardAll {
		if err := r.pass(token); err != nil {
			e.Kind, e.Text = Refused, "read: "+err.Error()
			return 0, err
		}
	}
	r.largest = max(r.largest, token)
	r.read[client] = r.version
	return r.value, nil
}

// Write sets the value. It fails with ErrStale if the guard refuses. An accepted write is damage if others wrote since
// this client's last read (theirs is lost), or if a larger token has been seen.
func (r *Register) Write(client string, token redlock.Token, value int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := Event{Actor: client, Kind: Wrote, Token: token, Value: value}
	defer func() { r.record(e) }()
	if r.guard == GuardWrites || r.guard == GuardAll {
		if err := r.pass(token); err != nil {
			e.Kind, e.Text = Refused, fmt.Sprintf("write of %d: %v", value, err)
			return err
		}
	}
	e.Lost = r.read[client] != r.version
	e.Stale = token < r.largest
	r.largest = max(r.largest, token)
	r.value = value
	r.version++
	r.read[client] = r.version
	return nil
}

func (r *Register) pass(token redlock.Token) error {
	if token < r.mark {
		return fmt.Errorf("%w: %d is below %d", ErrStale, token, r.mark)
	}
	r.mark = token
	return nil
}

// Value returns what the register holds in the end.
func (r *Register) Value() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}
