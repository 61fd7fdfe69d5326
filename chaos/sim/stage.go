package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// Play plays a scenario in virtual time, for a scheme under a guard; each, which may be nil, is shown the events as they
// happen. The error is the step that did not come about: then the run is not reached. The same arguments give the same
// history.
func Play(scenario chaos.Scenario, scheme chaos.Scheme, guard chaos.Guard, each func(chaos.Event)) (chaos.History, check.Verdict, error) {
	var r Runner
	defer r.Close()
	s := &scene{scenario: scenario, actors: map[int]*actor{}}
	s.world = r.world(scheme, Plan{Guard: guard, Workload: scenario.Load()}, nil)
	for _, n := range s.world.nodes {
		n.journals = true
	}
	record := chaos.NewRecorder(s.Now, each)
	s.world.register = chaos.NewRegister(chaos.NewMemory(guard, scenario.Load().Initial(scenario.Items)), record.Record)
	stage := chaos.NewStage(s, record, scenario, scheme, guard)

	over := false
	s.world.kernel.spawn(&s.observer, 0, func() {
		scenario.Play(stage)
		over = true
	})
	s.world.kernel.run(longest, func() bool { return over })
	h := record.History()
	return h, check.Judge(h, check.Terms{Guard: guard, Reached: stage.Err() == nil}), stage.Err()
}

// The bounds of a scenario, which no step of a sound one comes near.
const (
	longStep = time.Hour
	longest  = 24 * time.Hour
)

// scene is a world that a scenario is played in. It implements [chaos.World]. The scenario itself is a process of it, of
// the observer, that waits for what the clients do.
type scene struct {
	world    *World
	scenario chaos.Scenario
	observer host
	actors   map[int]*actor
	waiting  *process // the observer, for notify
	wakes    int
	lags     [masterCount]struct {
		since time.Duration
		on    bool
	}
}

// errNoEffect is the error of a fault that changed nothing.
var errNoEffect = errors.New("the fault had no effect")

// until lets the observer wait until something has come about, which notify tells it to look for, at most for so long;
// it reports whether it has.
func (s *scene) until(patience time.Duration, came func() bool) (bool, error) {
	k := s.world.kernel
	for end := k.now + patience; !came(); {
		if k.now >= end {
			return false, nil
		}
		s.waiting, s.wakes = k.running, k.running.wakes
		k.wakeAfter(end-k.now, s.waiting, s.wakes)
		if !k.park(context.Background()) {
			return false, errOver
		}
	}
	return true, nil
}

func (s *scene) notify() {
	if s.waiting != nil {
		s.world.kernel.wakeSoon(s.waiting, s.wakes)
		s.waiting = nil
	}
}

func (s *scene) Now() time.Duration { return s.world.kernel.now }

func (s *scene) Wait(d time.Duration) error {
	_, err := s.until(d, func() bool { return false })
	return err
}

func (s *scene) Client(number int) (chaos.Client, error) {
	a := &actor{client: s.world.newHost(number), scene: s}
	p := points{&masters{world: s.world, client: a.client, n: s.world.scheme.Masters}, a}
	if err := a.open(p, p, s.scenario.TTL); err != nil {
		return nil, err
	}
	s.actors[number] = a
	return a, nil
}

func (s *scene) node(master string) (*node, error) {
	for _, n := range s.world.nodes[:s.world.scheme.Masters] {
		if n.name == master {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no master %q", master)
}

func (s *scene) Look(master string) (chaos.Key, error) {
	n, err := s.node(master)
	if err != nil {
		return chaos.Key{}, err
	}
	now := n.wall(s.Now())
	_, held := n.get(lockName, now)
	counter, err := n.counter(counterKey, now)
	return chaos.Key{Held: held, Counter: counter}, err
}

var counterKey = redlock.Command{Name: lockName}.Counter()
