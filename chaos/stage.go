package chaos

import (
	"fmt"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A Stage is where a scenario plays: it records what happens, and keeps the first step that did not come about, after
// which no further step is taken.
type Stage struct {
	TTL    time.Duration
	Scheme string // its name
	Guard  Guard

	workload Workload
	masters  []string // that the scheme uses
	world    World
	record   *Recorder
	actors   map[int]*Actor
	err      error
}

// NewStage returns a stage for one scenario, played for a scheme under a guard.
func NewStage(world World, record *Recorder, scenario Scenario, scheme Scheme, guard Guard) *Stage {
	s := &Stage{
		TTL: scenario.TTL, Scheme: scheme.Name, Guard: guard,
		workload: scenario.Load(), world: world, record: record, actors: map[int]*Actor{},
	}
	for i := range scheme.Masters {
		s.masters = append(s.masters, string(rune('A'+i)))
	}
	return s
}

// Err returns the first step that did not come about.
func (s *Stage) Err() error { return s.err }

// Masters returns the names of the masters that the scheme uses.
func (s *Stage) Masters() []string { return s.masters }

// Majority returns as few of them as are a quorum, the first ones; Minority the others. Of one master that is all.
func (s *Stage) Majority() []string { return s.masters[:len(s.masters)/2+1] }

// Minority returns as many masters as can be missing: the last two of five, none of one.
func (s *Stage) Minority() []string { return s.masters[len(s.masters)/2+1:] }

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

// StepClock moves a master's wall clock.
func (s *Stage) StepClock(master string, d time.Duration) {
	s.began(master, "clock", fmt.Sprintf("its clock is stepped by %+v", d), func() (string, error) { return s.world.StepClock(master, d) })
}

// Kill kills masters, as kill -9 does.
func (s *Stage) Kill(masters ...string) {
	for _, m := range masters {
		s.began(m, "kill", "is killed", func() (string, error) { return s.world.Kill(m) })
	}
}

// Start starts masters that were killed.
func (s *Stage) Start(masters ...string) {
	for _, m := range masters {
		s.ended(m, "kill", "is started again", func() (string, error) { return s.world.Start(m) })
	}
}

// Restart kills a master and starts it again.
func (s *Stage) Restart(master string) {
	s.Kill(master)
	s.Start(master)
}

// PowerLoss takes from a master what it had not written to its disk yet.
func (s *Stage) PowerLoss(master string) {
	s.began(master, "memory", "loses power, and comes back", func() (string, error) { return s.world.PowerLoss(master) })
}

// Hang makes a master answer nothing, until Resume.
func (s *Stage) Hang(master string) {
	s.began(master, "pause", "hangs", func() (string, error) { return s.world.Hang(master) })
}

// Resume lets it go on, beginning with what came meanwhile.
func (s *Stage) Resume(master string) {
	s.ended(master, "pause", "goes on", func() (string, error) { return "", s.world.Resume(master) })
}

// Evict puts masters under memory pressure, to which the lock's key falls.
func (s *Stage) Evict(masters ...string) {
	for _, m := range masters {
		s.began(m, "memory", "evicts keys", func() (string, error) { return s.world.Evict(m) })
	}
}

// Lag has a master's replica hear of nothing from here on.
func (s *Stage) Lag(master string) {
	s.began(master, "partition", "its replica is cut off from it", func() (string, error) { return s.world.Lag(master) })
}

// Failover puts the replica in the master's place.
func (s *Stage) Failover(master string) {
	s.began(master, "kill", "is killed, and its replica promoted", func() (string, error) { return s.world.Failover(master) })
}

// Counter returns the lock's counter on a master.
func (s *Stage) Counter(master string) (n redlock.Token) {
	s.do(func() error {
		key, err := s.world.Look(master)
		n = key.Counter
		return err
	})
	return n
}

// Orphans looks for the lock's key on every master, at a time when nobody has the lock or asks for it: each is an
// orphan, which keeps the lock from others, or a part of their quorum.
func (s *Stage) Orphans() {
	found := false
	for _, m := range s.masters {
		s.do(func() error {
			key, err := s.world.Look(m)
			if err == nil && key.Held {
				found = true
				s.record.Record(Event{Actor: m, Kind: Orphan, Text: "has the lock's key, which is nobody's"})
			}
			return err
		})
	}
	if !found {
		s.Say("no master has the lock's key")
	}
}

// began injects a fault, and ended undoes one. The band is what it counts as in pictures; see Event.Fault.
func (s *Stage) began(actor, band, what string, inject func() (string, error)) {
	s.fault(Event{Actor: actor, Kind: Began, Fault: band}, what, inject)
}

func (s *Stage) ended(actor, band, what string, undo func() (string, error)) {
	s.fault(Event{Actor: actor, Kind: Ended, Fault: band}, what, undo)
}

func (s *Stage) fault(e Event, what string, act func() (proof string, err error)) {
	s.do(func() error {
		proof, err := act()
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.Actor, what, err)
		}
		e.Text = what
		if proof != "" {
			e.Text += ": " + proof
		}
		s.record.Record(e)
		return nil
	})
}

// do takes a step, if none has failed before.
func (s *Stage) do(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}
