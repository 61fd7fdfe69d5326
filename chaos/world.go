package chaos

import (
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A World carries out the steps of a scenario: on real processes, or in a simulation. A fault that had no effect, or that
// this world cannot do, is an error of its method; each returns in a line how it shows that the fault took effect.
type World interface {
	Now() time.Duration // by the observer's clock, since the start of the run
	Wait(d time.Duration) error
	Client(number int) (Client, error)
	Look(master string) (Key, error)

	StepClock(master string, d time.Duration) (proof string, err error)
	Kill(master string) (proof string, err error)      // as kill -9
	Start(master string) (proof string, err error)     // one that was killed, with the data that its persistence kept
	PowerLoss(master string) (proof string, err error) // what was not on disk is lost; it comes back at once
	Hang(master string) (proof string, err error)      // it answers nothing until Resume, and then everything
	Resume(master string) error
	Evict(master string) (proof string, err error)    // memory pressure takes the lock's key, and its counter if that expires
	Lag(master string) (proof string, err error)      // its replica hears of nothing from here on
	Failover(master string) (proof string, err error) // it dies, and its replica takes its place
}

// Key is what a master has of the lock.
type Key struct {
	Held    bool
	Counter redlock.Token // its fencing counter, 0 if there is none
}

// A Client is one process that takes part, as the observer drives it.
type Client interface {
	// Acquire asks for the lock, for as long as patience allows; 0 for one attempt. With a point that is not empty it
	// stops the process there, and Acquire returns a nil grant; Continue then lets it go on to the outcome.
	Acquire(patience time.Duration, at Point) (*Grant, error)
	// Check is how much of its lease the client believes to have left.
	Check() (remaining time.Duration, err error)
	// AwaitLoss waits until the client believes that it has the lock no more: because its lease is over, or the lock's
	// context has ended. It returns when that was, by the observer's clock, and false if it still believes after patience.
	AwaitLoss(patience time.Duration) (at time.Duration, why string, lost bool, err error)
	// Release releases the lock; what the scheme makes of it is the scheme's business. With a point that is not empty it
	// stops the process there, and Continue lets it go on.
	Release(at Point) error
	Die() error // as SIGKILL does

	Read() (Snapshot, error)                          // errors.Is ErrStale if the resource refused
	Write(base Snapshot, value int) (Snapshot, error) // errors.Is ErrStale likewise
	// SendWrite sends a write that the network then holds up, and LetWriteArrive lets it go on, and returns its outcome.
	SendWrite(base Snapshot, value int) (proof string, err error)
	LetWriteArrive() (Snapshot, error)

	Stop() error               // as SIGSTOP does
	Continue() (*Grant, error) // the outcome of an Acquire that was under way, else nil

	CutOff(masters ...string) (proof string, err error) // all packets, both ways
	Reach(masters ...string) error                      // again
	LoseReply(master string) error                      // to its next request to the master, with the connection
	LostReply(master string) (proof string, err error)  // that it was

	PinClock(wall time.Time) error    // its wall clock stands there
	ShiftClock(d time.Duration) error // its wall clock is off by d
	SlowClock(rate float64) error     // both of its clocks run at this rate
	Suspend(d time.Duration) error    // it sleeps as a suspended machine does: its monotonic clock stands still meanwhile

	// Shop starts to acquire, read, work for a moment, write what comes next, and release, so many times or until there is
	// no next value. If it is to stop once before a write, BeforeWrite, it waits there, and Pause returns when it does.
	Shop(times int, workload Workload, stop bool) error
	Pause() error                     // waits until the shopper is before the write, and stops it there
	Shopped() (writes int, err error) // waits for its end; writes are those that were acknowledged
}

// A Grant is the outcome of asking for the lock.
type Grant struct {
	Granted bool
	Token   redlock.Token
	At      time.Duration // when the client was told, by the observer's clock
	Until   time.Duration // when its lease ends as it believes, by the observer's clock; 0 if it does not expire
	Why     string        // not granted
	Quorum  bool          // not granted, and not because others have it: too few masters answered
}

// Point is a place inside a client's scheme, between two of its steps.
type Point string

const (
	// FirstAnswer: every master asked has answered, and the client has looked at none of the answers.
	FirstAnswer Point = "first-answer"
	// BeforeConfirm: a quorum has granted, and the client is about to confirm the token on it.
	BeforeConfirm Point = "before-confirm"
	// BeforeExpire: it has set the key, and is about to set the key's expiry by a second command.
	BeforeExpire Point = "before-expire"
	// BeforeDelete: it is about to send what deletes the key.
	BeforeDelete Point = "before-delete"
	// BeforeWrite: it holds the lock, has read, and is about to write.
	BeforeWrite Point = "before-write"
)
