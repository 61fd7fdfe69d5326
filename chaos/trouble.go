package chaos

import (
	"fmt"
	"time"
)

// Stop stops the client's process: the garbage collector's pause that stops the world.
func (a *Actor) Stop() {
	a.stage.do(func() error {
		if err := a.client.Stop(); err != nil {
			return err
		}
		a.stopped("is stopped (SIGSTOP)")
		return nil
	})
}

func (a *Actor) stopped(text string) { a.saw(Event{Kind: Began, Fault: "pause", Text: text}) }

// Continue lets the client's process go on, and its Acquire with it if it was stopped there.
func (a *Actor) Continue() {
	a.stage.do(func() error {
		a.saw(Event{Kind: Ended, Fault: "pause", Text: "goes on (SIGCONT)"})
		grant, err := a.client.Continue()
		if err == nil && grant != nil {
			a.outcome(grant)
		}
		return err
	})
}

// Suspend sends the client's machine to sleep for a time.
func (a *Actor) Suspend(d time.Duration) {
	a.stage.began(a.name, "pause", "its machine is suspended", func() (string, error) { return "", nil })
	a.stage.ended(a.name, "pause", fmt.Sprintf("its machine wakes up after %v", d), func() (string, error) { return "", a.client.Suspend(d) })
}

// Die ends the client's process, as SIGKILL does.
func (a *Actor) Die() {
	a.stage.do(func() error {
		if err := a.client.Die(); err != nil {
			return err
		}
		a.inside = false
		a.saw(Event{Kind: Died, Fault: "kill", Text: "dies (SIGKILL)"})
		return nil
	})
}

// CutOff drops all packets between the client and the masters, if any.
func (a *Actor) CutOff(masters ...string) {
	if len(masters) == 0 {
		return
	}
	a.stage.began(a.name, "partition", fmt.Sprintf("is cut off from %v", masters), func() (string, error) { return a.client.CutOff(masters...) })
}

// Reach lets packets through again.
func (a *Actor) Reach(masters ...string) {
	a.stage.ended(a.name, "partition", fmt.Sprintf("reaches %v again", masters), func() (string, error) { return "", a.client.Reach(masters...) })
}

// LoseReply has the reply to the client's next request to a master lost, and the connection with it.
func (a *Actor) LoseReply(master string) {
	a.stage.began(a.name, "packet", "the next reply of "+master+" is to be lost", func() (string, error) { return "", a.client.LoseReply(master) })
}

// ReplyWasLost makes sure that it was.
func (a *Actor) ReplyWasLost(master string) {
	a.stage.ended(a.name, "packet", "a reply of "+master+" was lost", func() (string, error) { return a.client.LostReply(master) })
}

// PinClock stops the client's wall clock at a time.
func (a *Actor) PinClock(wall time.Time) {
	a.clock("its wall clock stands at "+wall.UTC().Format("15:04:05.000000"), func() error { return a.client.PinClock(wall) })
}

// ShiftClock sets the client's wall clock off.
func (a *Actor) ShiftClock(d time.Duration) {
	a.clock(fmt.Sprintf("its wall clock is off by %+v", d), func() error { return a.client.ShiftClock(d) })
}

// SlowClock has both of the client's clocks run at a rate: 0.8 is slow by 20 %.
func (a *Actor) SlowClock(rate float64) {
	a.clock(fmt.Sprintf("its clocks run at %v of their speed", rate), func() error { return a.client.SlowClock(rate) })
}

func (a *Actor) clock(what string, set func() error) {
	a.stage.began(a.name, "clock", what, func() (string, error) { return "", set() })
}

// Shop has the client begin to acquire, read, write and release on its own, so many times or until there is nothing
// left.
func (a *Actor) Shop(times int) {
	a.stage.do(func() error {
		a.saw(Event{Kind: Said, Text: fmt.Sprintf("goes shopping, %d times at most", times)})
		return a.client.Shop(times, a.stage.workload, false)
	})
}

// ShopAndStop is Shop of a client that is stopped before its first write.
func (a *Actor) ShopAndStop(times int) {
	a.stage.do(func() error {
		a.saw(Event{Kind: Said, Text: fmt.Sprintf("goes shopping, %d times at most", times)})
		if err := a.client.Shop(times, a.stage.workload, true); err != nil {
			return err
		}
		if err := a.client.Pause(); err != nil {
			return err
		}
		a.stopped("is stopped (SIGSTOP) before its first write")
		return nil
	})
}

// Shopped waits for the end of that, and returns how many writes were acknowledged.
func (a *Actor) Shopped() (writes int) {
	a.stage.do(func() (err error) {
		writes, err = a.client.Shopped()
		a.saw(Event{Kind: Said, Text: fmt.Sprintf("comes home with %d", writes)})
		return err
	})
	return writes
}
