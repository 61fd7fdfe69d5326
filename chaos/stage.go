package chaos

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A World carries out the steps of a scenario: on real processes, or in a simulation. A fault that had no effect is an
// error of its method.
type World interface {
	Now() time.Duration // by the observer's clock, since the start of the run
	Wait(d time.Duration) error
	Client(number int) (Client, error)
	StepClock(master string, d time.Duration) (proof string, err error)
	Restart(master string) (proof string, err error) // kill -9, and start again
	Counter(master string) (redlock.Token, error)    // the lock's fencing counter
}

// A Client is one process that takes part, as the observer drives it.
type Client interface {
	// Acquire asks for the lock, for as long as patience allows; 0 for one attempt. With a point that is not empty it
	// stops the process there, and Acquire returns a nil grant; Continue then lets it go on to the outcome.
	Acquire(patience time.Duration, at Point) (*Grant, error)
	Check() (remaining time.Duration, err error)
	Read() (Snapshot, error)                          // errors.Is ErrStale if the resource refused
	Write(base Snapshot, value int) (Snapshot, error) // errors.Is ErrStale likewise
	Release() error                                   // what the scheme makes of it is the scheme's business
	Stop() error                                      // as SIGSTOP does
	Continue() (*Grant, error)                        // the outcome of an Acquire that was under way, else nil
	CutOff(masters ...string) (proof string, err error)
	PinClock(wall time.Time) error    // its wall clock stands there
	ShiftClock(d time.Duration) error // its wall clock is off by d
}

// A Grant is the outcome of asking for the lock.
type Grant struct {
	Granted bool
	Token   redlock.Token
	Why     string // not granted
}

// Point is a place inside Acquire.
type Point string

const (
	// FirstAnswer: every master asked has answered, and the client has looked at none of the answers.
	FirstAnswer Point = "first-answer"
	// BeforeConfirm: a quorum has granted, and the client is about to confirm the token on it.
	BeforeConfirm Point = "before-confirm"
)

// A Stage is where a scenario plays: it records what happens, and keeps the first step that did not come about, after
// which no further step is taken.
type Stage struct {
	TTL     time.Duration
	masters []string // that the scheme uses
	world   World
	record  *Recorder
	actors  map[int]*Actor
	err     error
}

// NewStage returns a stage for a scheme that uses the given masters.
func NewStage(world World, record *Recorder, ttl time.Duration, masters []string) *Stage {
	return &Stage{TTL: ttl, masters: masters, world: world, record: record, actors: map[int]*Actor{}}
}

// Err returns the first step that did not come about.
func (s *Stage) Err() error { return s.err }

// Say tells the reader something.
func (s *Stage) Say(format string, args ...any) {
	if s.err == nil {
		s.record.Record(Event{Kind: Said, Text: fmt.Sprintf(format, args...)})
	}
}

// Wait lets time pass.
func (s *Stage) Wait(d time.Duration) {
	s.do(func() error { return s.world.Wait(d) })
}

// Split gives two clients different majorities, and returns the one master that both reach: with five, the first gets
// A-C and the second C-E. A scheme of one master has nothing to split.
func (s *Stage) Split(one, two *Actor) (shared string) {
	middle := len(s.masters) / 2
	if below, above := s.masters[:middle], s.masters[middle+1:]; middle > 0 {
		one.CutOff(above...)
		two.CutOff(below...)
	}
	return s.masters[middle]
}

// StepClock moves a master's wall clock.
func (s *Stage) StepClock(master string, d time.Duration) {
	s.fault(master, fmt.Sprintf("its clock is stepped by %+v", d), func() (string, error) { return s.world.StepClock(master, d) })
}

// Restart kills a master and starts it again.
func (s *Stage) Restart(master string) {
	s.fault(master, "is killed and started again", func() (string, error) { return s.world.Restart(master) })
}

// Counter returns the lock's counter on a master.
func (s *Stage) Counter(master string) (n redlock.Token) {
	s.do(func() (err error) {
		n, err = s.world.Counter(master)
		return err
	})
	return n
}

func (s *Stage) fault(actor, what string, inject func() (string, error)) {
	s.do(func() error {
		proof, err := inject()
		if err != nil {
			return fmt.Errorf("%s %s: %w", actor, what, err)
		}
		s.record.Record(Event{Actor: actor, Kind: Began, Text: what + ": " + proof})
		return nil
	})
}

// do takes a step, if none has failed before.
func (s *Stage) do(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}

// An Actor is a client on the stage.
type Actor struct {
	stage  *Stage
	name   string
	client Client
	inside bool
	seen   Snapshot // last read
	known  bool     // it has read, and was not refused
}

// Client returns client 1, 2 and so on; it comes to life when it is first asked for.
func (s *Stage) Client(number int) *Actor {
	if a, ok := s.actors[number]; ok {
		return a
	}
	a := &Actor{stage: s, name: strconv.Itoa(number)}
	s.actors[number] = a
	s.do(func() (err error) {
		a.client, err = s.world.Client(number)
		return err
	})
	return a
}

// Acquire has the client ask until it has the lock, at most for five leases. A scenario cannot go on without.
func (a *Actor) Acquire() {
	a.stage.do(func() error {
		a.saw(Event{Kind: Asked})
		grant, err := a.client.Acquire(5*a.stage.TTL, "")
		if err != nil {
			return err
		}
		a.outcome(grant)
		if !grant.Granted {
			return fmt.Errorf("client %s did not get the lock: %s", a.name, grant.Why)
		}
		return nil
	})
}

// TryAcquire makes one attempt, whatever comes of it.
func (a *Actor) TryAcquire() {
	a.stage.do(func() error {
		a.saw(Event{Kind: Asked})
		grant, err := a.client.Acquire(0, "")
		if err == nil {
			a.outcome(grant)
		}
		return err
	})
}

// StopInAcquire has the client ask, and stops it at a point inside.
func (a *Actor) StopInAcquire(at Point) {
	a.stage.do(func() error {
		a.saw(Event{Kind: Asked})
		grant, err := a.client.Acquire(0, at)
		switch {
		case err != nil:
			return err
		case grant != nil:
			return fmt.Errorf("client %s was to be stopped in acquire at %s, but came to an end before: %+v", a.name, at, *grant)
		}
		a.saw(Event{Kind: Said, Text: fmt.Sprintf("is stopped (SIGSTOP) at the point %q of its acquire", at)})
		return nil
	})
}

// Check has the client look at what is left of its lease, as many do just before they write.
func (a *Actor) Check() {
	a.stage.do(func() error {
		remaining, err := a.client.Check()
		if err != nil {
			return err
		}
		a.saw(Event{Kind: Checked, Text: fmt.Sprintf("%v left", remaining.Round(time.Millisecond))})
		if remaining <= 0 {
			return fmt.Errorf("client %s has lost its lease before the scenario began", a.name)
		}
		return nil
	})
}

// Read has the client read the resource, if it believes that it has the lock.
func (a *Actor) Read() {
	a.stage.do(func() (err error) {
		if !a.inside {
			return nil
		}
		a.seen, err = a.client.Read()
		a.known = err == nil
		if errors.Is(err, ErrStale) {
			return nil // the register has recorded it
		}
		return err
	})
}

// Write has the client write back one more than it read, if it believes that it has the lock and was not refused
// its read.
func (a *Actor) Write() {
	a.stage.do(func() error {
		if !a.inside || !a.known {
			a.saw(Event{Kind: Said, Text: "has nothing to write"})
			return nil
		}
		now, err := a.client.Write(a.seen, a.seen.Value+1)
		if errors.Is(err, ErrStale) {
			return nil // the register has recorded it
		}
		a.seen = now
		return err
	})
}

// Leave has the client release the lock and leave its critical section.
func (a *Actor) Leave() {
	a.stage.do(func() error {
		if !a.inside {
			return nil
		}
		a.inside = false
		a.saw(Event{Kind: Left})
		return a.client.Release()
	})
}

// Stop stops the client's process: the garbage collector's pause that stops the world.
func (a *Actor) Stop() {
	a.stage.do(func() error {
		if err := a.client.Stop(); err != nil {
			return err
		}
		a.saw(Event{Kind: Began, Text: "is stopped (SIGSTOP)"})
		return nil
	})
}

// Continue lets the client's process go on, and its Acquire with it if it was stopped there.
func (a *Actor) Continue() {
	a.stage.do(func() error {
		a.saw(Event{Kind: Ended, Text: "goes on (SIGCONT)"})
		grant, err := a.client.Continue()
		if err == nil && grant != nil {
			a.outcome(grant)
		}
		return err
	})
}

// CutOff drops all packets between the client and the masters.
func (a *Actor) CutOff(masters ...string) {
	a.stage.fault(a.name, fmt.Sprintf("is cut off from %v", masters), func() (string, error) { return a.client.CutOff(masters...) })
}

// PinClock stops the client's wall clock at a time.
func (a *Actor) PinClock(wall time.Time) {
	a.stage.do(func() error { return a.client.PinClock(wall) })
	a.saw(Event{Kind: Began, Text: "its wall clock stands at " + wall.UTC().Format("15:04:05.000000")})
}

// ShiftClock sets the client's wall clock off.
func (a *Actor) ShiftClock(d time.Duration) {
	a.stage.do(func() error { return a.client.ShiftClock(d) })
	a.saw(Event{Kind: Began, Text: fmt.Sprintf("its wall clock is off by %+v", d)})
}

func (a *Actor) outcome(grant *Grant) {
	if grant.Granted {
		a.inside, a.known = true, false
		a.saw(Event{Kind: Acquired, Token: grant.Token})
		return
	}
	a.saw(Event{Kind: Denied, Text: grant.Why})
}

func (a *Actor) saw(e Event) {
	if a.stage.err == nil {
		e.Actor = a.name
		a.stage.record.Record(e)
	}
}
