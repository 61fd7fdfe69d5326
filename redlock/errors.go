package redlock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/go-multierror"
)

// The sentinels, to be told apart with errors.Is. An error of this package matches one of them, or the end of the
// caller's context, or (a wait that ended with its context) both.
var (
	// ErrHeld: another holder's grants keep the quorum out of reach. Worth trying again later.
	ErrHeld = errors.New("held by another client")

	// ErrNoQuorum: too few masters answered, whatever the others said.
	ErrNoQuorum = errors.New("no quorum of masters answered")

	// ErrExpired: the lease has ended, by our clock or because too few masters have the key any more.
	ErrExpired = errors.New("lease expired")

	// ErrLost: a quorum of masters holds another's value.
	ErrLost = errors.New("lock lost to another client")

	// ErrReleased: the lock has been released by its holder.
	ErrReleased = errors.New("lock already released")

	// ErrInvalid: a setting or an argument was refused before any command was sent, the client is closed, or
	// [Client.Check] found masters that must not be used.
	ErrInvalid = errors.New("invalid")
)

// Why a single master did not grant. They are not the sentinels above, since one master's no is not the quorum's.
var (
	errTaken      = errors.New("holds another client's value")
	errGone       = errors.New("has no such key")
	errAhead      = errors.New("has counted a later grant")
	errUnanswered = errors.New("had not answered when the outcome was known")
)

// QuorumError says how a round of questions failed: what was asked for, how the masters voted, and each one's
// reason. Use errors.As to reach it; it unwraps to its sentinel and to every cause.
type QuorumError struct {
	Op      string // acquire, extend, release, check
	Name    string // of the lock; empty for check
	Need    int    // the quorum
	Won     int    // masters that granted
	Lost    int    // masters that answered no
	Unknown int    // masters that failed, or had not answered when the outcome was known

	// Errors has a *NodeError for each master that did not grant.
	Errors *multierror.Error

	kind error // the sentinel
}

func (e *QuorumError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "redlock: %s", e.Op)
	if e.Name != "" {
		fmt.Fprintf(&b, " %q", e.Name)
	}
	fmt.Fprintf(&b, ": %v (need %d: %d granted, %d refused, %d failed or silent)",
		e.kind, e.Need, e.Won, e.Lost, e.Unknown)
	separator := ": "
	for _, err := range e.Errors.WrappedErrors() {
		b.WriteString(separator + err.Error())
		separator = "; "
	}
	return b.String()
}

// Unwrap returns the sentinel and the causes.
func (e *QuorumError) Unwrap() []error {
	return append([]error{e.kind}, e.Errors.WrappedErrors()...)
}

// NodeError is one master's reason for not granting.
type NodeError struct {
	Node string // the master's address where it is known, else "master 1" and so on
	Err  error
}

func (e *NodeError) Error() string { return e.Node + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *NodeError) Unwrap() error { return e.Err }

var errClosed = invalid("the client is closed")

func invalid(format string, args ...any) error {
	return fmt.Errorf("redlock: %w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
