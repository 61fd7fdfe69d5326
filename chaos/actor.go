package chaos

import (
	"errors"
	"fmt"
	"time"
)

// An Actor is a client on the stage. What it does in its critical section (Read, Write, Leave) it does only while it
// believes that it is inside, so that a script can go on whichever way the lock decides.
type Actor struct {
	stage    *Stage
	name     string
	client   Client
	inside   bool
	released bool          // it has given the lock up, and works on
	until    time.Duration // when its lease ends as it was granted; 0 if it does not
	seen     Snapshot      // last read
	known    bool          // it has read, and was not refused
}

// enough is how many leases a client waits that has the lock denied for no reason.
const enough = 50

// Acquire has the client ask until it has the lock, at most for five leases. A scenario cannot go on without.
func (a *Actor) Acquire() {
	a.ask(5*a.stage.TTL, func(grant *Grant) error {
		if !grant.Granted {
			return fmt.Errorf("client %s did not get the lock: %s", a.name, grant.Why)
		}
		return nil
	})
}

// TryAcquire makes one attempt, whatever comes of it.
func (a *Actor) TryAcquire() { a.ask(0, func(*Grant) error { return nil }) }

// BeDenied makes one attempt, which others that have the lock must make fail; else the scenario ends here.
func (a *Actor) BeDenied() {
	a.ask(0, func(grant *Grant) error {
		if grant.Granted || grant.Quorum {
			return fmt.Errorf("client %s was to find the lock taken: %s", a.name, grantText(grant))
		}
		return nil
	})
}

// MissQuorum makes one attempt, which must fail for want of masters, and within a bound of ten leases.
func (a *Actor) MissQuorum() {
	begin := a.stage.world.Now()
	a.ask(0, func(grant *Grant) error {
		if took := grant.At - begin; grant.Granted || !grant.Quorum || took > 10*a.stage.TTL {
			return fmt.Errorf("client %s was to hear that there is no quorum, and heard after %v: %s", a.name, took, grantText(grant))
		}
		return nil
	})
}

// AcquireOrGiveUp has the client ask for fifty leases. Who waits in vain for so long waits for ever.
func (a *Actor) AcquireOrGiveUp() {
	a.ask(enough*a.stage.TTL, func(grant *Grant) error {
		if !grant.Granted {
			a.saw(Event{Kind: GaveUp})
		}
		return nil
	})
}

func (a *Actor) ask(patience time.Duration, then func(*Grant) error) {
	a.stage.do(func() error {
		a.saw(Event{Kind: Asked})
		grant, err := a.client.Acquire(patience, "")
		if err != nil {
			return err
		}
		a.outcome(grant)
		return then(grant)
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
			return fmt.Errorf("client %s was to be stopped in acquire at %s, but came to an end before: %s", a.name, at, grantText(grant))
		}
		a.stopped(fmt.Sprintf("is stopped (SIGSTOP) at the point %q of its acquire", at))
		return nil
	})
}

// Check has the client look at what is left of its lease, as many do just before they write. A scenario cannot go on
// with nothing left.
func (a *Actor) Check() {
	a.stage.do(func() error {
		remaining, err := a.look()
		if err == nil && remaining <= 0 {
			return fmt.Errorf("client %s has lost its lease before the scenario came to its point", a.name)
		}
		return err
	})
}

func (a *Actor) look() (remaining time.Duration, err error) {
	remaining, err = a.client.Check()
	if err == nil {
		text := fmt.Sprintf("%v left", remaining.Round(time.Millisecond))
		if remaining > 24*time.Hour {
			text = "it has no end"
		}
		a.saw(Event{Kind: Checked, Text: text})
	}
	return remaining, err
}

// Read has the client read the resource.
func (a *Actor) Read() {
	a.stage.do(func() (err error) {
		if !a.inside {
			return nil
		}
		a.seen, err = a.client.Read()
		a.known = err == nil
		return unlessStale(err)
	})
}

// Write has the client write back what its workload says comes next, if it was not refused its read.
func (a *Actor) Write() {
	a.write(func(next int) (Snapshot, error) { return a.client.Write(a.seen, next) })
}

// WriteIfHeld has the client look at its lease, and write if any of it is left.
func (a *Actor) WriteIfHeld() {
	held := false
	a.stage.do(func() error {
		if !a.inside {
			return nil
		}
		remaining, err := a.look()
		held = remaining > 0
		return err
	})
	if held {
		a.Write()
	}
}

// SendWrite has the client send its write, which the network holds up until LetWriteArrive.
func (a *Actor) SendWrite() {
	a.stage.began(a.name, "packet", "its write is held up on its way to the resource", func() (string, error) {
		return a.client.SendWrite(a.seen, a.next())
	})
}

// LetWriteArrive lets that write go on.
func (a *Actor) LetWriteArrive() {
	a.stage.ended(a.name, "packet", "its write goes on to the resource", func() (string, error) { return "", nil })
	a.write(func(int) (Snapshot, error) { return a.client.LetWriteArrive() })
}

func (a *Actor) write(send func(next int) (Snapshot, error)) {
	a.stage.do(func() error {
		if !a.inside || !a.known {
			a.saw(Event{Kind: Said, Text: "has nothing to write"})
			return nil
		}
		now, err := send(a.next())
		if err == nil {
			a.seen = now
		}
		return unlessStale(err)
	})
}

func (a *Actor) next() int {
	next, _ := a.stage.workload.Next(a.seen.Value)
	return next
}

// ReleaseEarly releases the lock, and works on as if it were still held.
func (a *Actor) ReleaseEarly() {
	a.stage.do(func() error {
		a.released = true
		a.saw(Event{Kind: Said, Text: "releases the lock, and is not done yet"})
		return a.client.Release("")
	})
}

// Leave has the client leave its critical section, and release the lock.
func (a *Actor) Leave() {
	a.stage.do(func() error {
		if !a.inside {
			return nil
		}
		return a.leave(Event{Kind: Left})
	})
}

// StopInLeave has the client leave its critical section, and stops it inside its release.
func (a *Actor) StopInLeave(at Point) {
	a.stage.do(func() error {
		a.inside = false
		a.saw(Event{Kind: Left})
		if err := a.client.Release(at); err != nil {
			return err
		}
		a.stopped(fmt.Sprintf("is stopped (SIGSTOP) at the point %q of its release", at))
		return nil
	})
}

// LeaveWhenLost waits for the client to believe that it has the lock no more, and has it leave when it does. One that
// still believes after that patience stays inside. It reports whether the client left.
func (a *Actor) LeaveWhenLost(patience time.Duration) (left bool) {
	a.stage.do(func() error {
		if !a.inside {
			return nil
		}
		at, why, lost, err := a.client.AwaitLoss(patience)
		switch {
		case err != nil:
			return err
		case !lost:
			a.saw(Event{Kind: Said, Text: "still believes that it has the lock"})
			return nil
		}
		left = true
		return a.leave(Event{At: at, Kind: Left, Text: why})
	})
	return left
}

func (a *Actor) leave(e Event) error {
	a.inside = false
	a.saw(e)
	if a.released {
		a.released = false
		return nil
	}
	return a.client.Release("")
}

// LeaseRunsOut lets time pass until the lease is over that the client was granted, by its own account.
func (a *Actor) LeaseRunsOut() {
	a.stage.do(func() error {
		if a.until == 0 {
			return fmt.Errorf("client %s has no lease that could end", a.name)
		}
		if err := a.stage.world.Wait(max(a.until-a.stage.world.Now(), 0) + time.Millisecond); err != nil {
			return err
		}
		a.stage.Say("the lease of %s is over: it was to end at %.3fs", a.name, a.until.Seconds())
		return nil
	})
}

func (a *Actor) outcome(grant *Grant) {
	if grant.Granted {
		a.inside, a.released, a.known, a.until = true, false, false, grant.Until
		a.saw(Event{At: grant.At, Kind: Acquired, Token: grant.Token, Until: grant.Until})
		return
	}
	a.saw(Event{At: grant.At, Kind: Denied, Text: grant.Why})
}

func (a *Actor) saw(e Event) {
	if a.stage.err == nil {
		e.Actor = a.name
		a.stage.record.Record(e)
	}
}

func grantText(g *Grant) string {
	if g.Granted {
		return fmt.Sprintf("granted, token %d", g.Token)
	}
	return g.Why
}

// unlessStale drops the error of a refusal, which the register has recorded.
func unlessStale(err error) error {
	if errors.Is(err, ErrStale) {
		return nil
	}
	return err
}
