package chaos

import (
	"fmt"
	"sync"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// Kind says what an [Event] is.
type Kind string

// The kinds of events.
const (
	Asked    Kind = "asked"    // a client began to acquire
	Acquired Kind = "acquired" // it was told that it has the lock: it is inside from here on
	Denied   Kind = "denied"   // it was told that it has not
	GaveUp   Kind = "gave up"  // it has waited for fifty leases, in vain
	Checked  Kind = "checked"  // it looked at its lease
	Left     Kind = "left"     // it left its critical section
	Died     Kind = "died"     // it will do nothing any more
	Read     Kind = "read"     // the resource answered a read
	Wrote    Kind = "wrote"    // the resource accepted a write
	Refused  Kind = "refused"  // the resource refused an operation
	Began    Kind = "began"    // a fault was injected, with its proof
	Ended    Kind = "ended"    // a fault was undone
	Said     Kind = "said"     // a remark for the reader
)

// An Event is one thing that the observer or the resource saw. What a client only says of itself is no event, except
// that it holds the lock: that is the claim under test.
type Event struct {
	At    time.Duration `json:"at_ns"` // since the start of the run, by the observer's clock
	Actor string        `json:"actor"` // "1", "2": a client; "A" .. "E": a master; "" the observer
	Kind  Kind          `json:"kind"`
	Token redlock.Token `json:"token,omitempty"`    // Acquired, Read, Wrote, Refused
	Value int           `json:"value,omitempty"`    // Read, Wrote
	Lost  bool          `json:"lost,omitempty"`     // Wrote: it overwrote what its client had not read
	Stale bool          `json:"stale,omitempty"`    // Wrote: the resource had seen a larger token
	Until time.Duration `json:"until_ns,omitempty"` // Acquired: when the lease ends as its client believes, by the observer's clock; 0 if it does not
	Fault string        `json:"fault,omitempty"`    // Began, Ended: what kind of fault: kill, pause, partition, packet, clock, memory
	Text  string        `json:"text,omitempty"`
}

func (e Event) String() string {
	who := e.Actor
	if who == "" {
		who = "-"
	}
	var what string
	switch e.Kind {
	case Asked:
		what = "asks for the lock"
	case Acquired:
		what = fmt.Sprintf("has the lock, token %d", e.Token)
	case Denied:
		what = "is not given the lock: " + e.Text
	case GaveUp:
		what = "gives up: it has waited for fifty leases"
	case Checked:
		what = "checks its lease: " + e.Text
	case Left:
		what = "leaves"
	case Read:
		what = fmt.Sprintf("reads %d", e.Value)
	case Wrote:
		what = fmt.Sprintf("writes %d", e.Value)
		if e.Lost {
			what += "  <- a lost update: the value was not the one it had read"
		}
		if e.Stale {
			what += "  <- stale: a later holder has been here"
		}
	case Refused:
		what = "is REFUSED by the resource: " + e.Text
	default:
		what = e.Text
	}
	return fmt.Sprintf("%7.3fs  %-2s %s", e.At.Seconds(), who, what)
}

// A History is what happened in one run, in order.
type History []Event

// A Recorder makes a history of what several goroutines see, on one clock.
type Recorder struct {
	now  func() time.Duration
	each func(Event)

	mu     sync.Mutex
	events History
}

// NewRecorder returns a recorder that stamps events with now, and passes each on to each, which may be nil.
func NewRecorder(now func() time.Duration, each func(Event)) *Recorder {
	return &Recorder{now: now, each: each}
}

// Record adds an event, at the present time.
func (r *Recorder) Record(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.At = r.now()
	r.events = append(r.events, e)
	if r.each != nil {
		r.each(e)
	}
}

// History returns what has been recorded so far.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(History(nil), r.events...)
}
