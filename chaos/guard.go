package chaos

import (
	"errors"
	"fmt"

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

	// GuardCAS looks at no token: a write names the version that it was made from, and is refused if that is not the
	// present one (optimistic concurrency). It protects the resource without any lock.
	GuardCAS Guard = "cas"

	// GuardMark is antirez' ("Is Redlock safe?"): tokens are random, so they have no order. A read marks the resource with
	// its token, and a write is refused unless the mark is its own. That keeps the one value whole; but a mark that comes
	// late evicts the rightful holder. It is not among Guards, since only one scenario is about it.
	GuardMark Guard = "mark"
)

// Guards are those to protect a resource with, the weakest first, and last the one that needs no lock.
func Guards() []Guard { return []Guard{GuardNone, GuardWrites, GuardAll, GuardCAS} }

// GuardByName returns one guard.
func GuardByName(name string) (Guard, error) {
	return ByName("guard", append(Guards(), GuardMark), name, func(g Guard) string { return string(g) })
}

// ErrStale is what a guard answers to an operation that comes too late: its token is below the largest seen, or its
// version is not the present one.
var ErrStale = errors.New("stale")

// UsesTokens reports whether what the guard lets pass depends on the order of fencing tokens.
func (g Guard) UsesTokens() bool { return g == GuardWrites || g == GuardAll }

// memory is a store in memory.
type memory struct {
	guard   Guard
	present Snapshot
	mark    redlock.Token // the largest token that the guard has taken notice of; with GuardMark the last
}

// NewMemory returns a store in memory that holds a value to begin with. It is for one goroutine at a time.
func NewMemory(guard Guard, value int) Store {
	return &memory{guard: guard, present: Snapshot{Value: value}}
}

func (m *memory) Read(token redlock.Token) (Snapshot, error) {
	if m.guard == GuardAll {
		if err := m.pass(token); err != nil {
			return Snapshot{}, err
		}
	}
	if m.guard == GuardMark {
		m.mark = token
	}
	return m.present, nil
}

func (m *memory) Write(token redlock.Token, base Snapshot, value int) error {
	if m.guard.UsesTokens() {
		if err := m.pass(token); err != nil {
			return err
		}
	}
	if m.guard == GuardCAS && base.Version != m.present.Version {
		return fmt.Errorf("%w version: %d is not %d", ErrStale, base.Version, m.present.Version)
	}
	if m.guard == GuardMark && token != m.mark {
		return fmt.Errorf("%w mark: %d is not %d", ErrStale, token, m.mark)
	}
	m.present = Snapshot{Value: value, Version: m.present.Version + 1}
	return nil
}

func (m *memory) pass(token redlock.Token) error {
	if token < m.mark {
		return fmt.Errorf("%w fencing token: %d is below %d", ErrStale, token, m.mark)
	}
	m.mark = token
	return nil
}
