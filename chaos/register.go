package chaos

import (
	"errors"
	"fmt"
	"sync"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A Snapshot is what a read of the resource finds.
type Snapshot struct {
	Value   int
	Version int // how many writes have been accepted
}

// A Store is the protected resource: one value, behind a guard. An operation that the guard refuses fails with an error
// that matches ErrStale.
type Store interface {
	Read(token redlock.Token) (Snapshot, error)
	// Write sets the value. What the writer made it from goes along, for guards that want to know.
	Write(token redlock.Token, base Snapshot, value int) error
}

// A Register stands before a store, lets one operation through at a time, and keeps the record from which the damage is
// counted, whatever the clients believe.
type Register struct {
	store  Store
	record func(Event)

	mu      sync.Mutex
	version int           // writes accepted so far
	largest redlock.Token // the largest token seen, by which stale writes are known
}

// NewRegister returns a register before a store that nothing has been written to, and that reports what reaches it to
// record.
func NewRegister(store Store, record func(Event)) *Register {
	return &Register{store: store, record: record}
}

// Read returns what is there. An error that does not match ErrStale is the store's own trouble, and no event.
func (r *Register) Read(client string, token redlock.Token) (Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.store.Read(token)
	switch {
	case errors.Is(err, ErrStale):
		r.record(Event{Actor: client, Kind: Refused, Token: token, Text: "read: " + err.Error()})
		return found, err
	case err != nil:
		return found, fmt.Errorf("read: %w", err)
	}
	r.largest = max(r.largest, token)
	r.record(Event{Actor: client, Kind: Read, Token: token, Value: found.Value})
	return found, nil
}

// Write sets the value, and returns what is there then. An accepted write is damage if others wrote since what it was
// made from was read (theirs is lost), or if a larger token has been seen. An error that does not match ErrStale is the
// store's own trouble, and no event.
func (r *Register) Write(client string, token redlock.Token, base Snapshot, value int) (Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.store.Write(token, base, value)
	switch {
	case errors.Is(err, ErrStale):
		r.record(Event{Actor: client, Kind: Refused, Token: token, Text: fmt.Sprintf("write of %d: %v", value, err)})
		return Snapshot{}, err
	case err != nil:
		return Snapshot{}, fmt.Errorf("write of %d: %w", value, err)
	}
	e := Event{
		Actor: client, Kind: Wrote, Token: token, Value: value,
		Lost: base.Version != r.version, Stale: token < r.largest,
	}
	r.version++
	r.largest = max(r.largest, token)
	r.record(e)
	return Snapshot{Value: value, Version: r.version}, nil
}
