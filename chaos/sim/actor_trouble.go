package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

func (a *actor) Stop() error {
	if a.gone() || a.host.paused > 0 {
		return fmt.Errorf("%w: client %s does not run", errNoEffect, a.name)
	}
	a.world.kernel.stop(&a.host)
	return nil
}

func (a *actor) Continue() (*chaos.Grant, error) {
	if a.host.paused == 0 {
		return nil, fmt.Errorf("client %s is not stopped", a.name)
	}
	a.world.kernel.goOn(&a.host)
	x := a.call
	if x == nil || !x.stopped {
		return nil, nil
	}
	x.stopped = false
	err := a.await(x)
	return x.grant, err
}

// Suspend is a pause: the clocks of the simulation are those that go on meanwhile, and no client can see any other.
func (a *actor) Suspend(d time.Duration) error {
	if err := a.Stop(); err != nil {
		return err
	}
	err := a.scene.Wait(d)
	a.world.kernel.goOn(&a.host)
	return err
}

// each does something to the links between the client and masters.
func (a *actor) each(masters []string, do func(*link)) error {
	for _, m := range masters {
		n, err := a.scene.node(m)
		if err != nil {
			return err
		}
		do(a.world.link(a.client, n))
	}
	return nil
}

func (a *actor) CutOff(masters ...string) (string, error) {
	return "", a.each(masters, func(l *link) { l.cut = true })
}

func (a *actor) Reach(masters ...string) error {
	return a.each(masters, func(l *link) { l.cut = false })
}

func (a *actor) LoseReply(master string) error {
	return a.each([]string{master}, func(l *link) { l.breaks = true })
}

func (a *actor) LostReply(master string) (proof string, err error) {
	broke := 0
	err = a.each([]string{master}, func(l *link) { broke = l.broke })
	if err == nil && broke == 0 {
		err = fmt.Errorf("%w: no connection broke", errNoEffect)
	}
	return fmt.Sprintf("%d connections broke", broke), err
}

func (a *actor) PinClock(wall time.Time) error {
	a.clock.pinned = wall
	return nil
}

func (a *actor) ShiftClock(d time.Duration) error {
	a.clock.offset += d
	return nil
}

func (a *actor) SlowClock(rate float64) error {
	if rate <= 0 {
		return fmt.Errorf("a clock cannot run at rate %v", rate)
	}
	a.clock.setRate(rate)
	return nil
}

// shopping is what a client does on its own.
type shopping struct {
	trip   *call
	before bool // it is stopped before its first write
	writes int
}

// What a shopper takes for its choice: at least so long, and up to as much again.
const think = 2 * time.Millisecond

func (a *actor) Shop(times int, workload chaos.Workload, stop bool) error {
	if a.gone() {
		return fmt.Errorf("client %s is dead", a.name)
	}
	trip := &call{}
	a.shop = shopping{trip: trip}
	a.world.kernel.spawn(&a.host, 0, func() {
		for range times {
			if more, err := a.buy(workload, &stop); !more || err != nil {
				break
			}
		}
		trip.done = true
		a.scene.notify()
	})
	return nil
}

// buy is one round: acquire, read, think, write, release. It reports whether there is more to be had.
func (a *actor) buy(workload chaos.Workload, stop *bool) (more bool, err error) {
	if grant := a.tryFor(enough); !grant.Granted {
		return false, errors.New(grant.Why)
	}
	defer a.giveBack()
	found, err := a.look()
	if errors.Is(err, chaos.ErrStale) {
		return true, nil
	}
	next, more := workload.Next(found.Value)
	if err := errors.Join(err, a.rest(think, think)); err != nil || !more {
		return false, err
	}
	if *stop {
		*stop = false
		a.shop.before = true
		a.stopHere()
	}
	_, err = a.put(found, next)
	switch {
	case errors.Is(err, chaos.ErrStale):
		err = nil
	case err == nil:
		a.shop.writes++
	}
	return true, err
}

func (a *actor) Pause() error {
	came, err := a.scene.until(longStep, func() bool { return a.shop.before || a.shop.trip.done })
	if err == nil && (!came || !a.shop.before) {
		err = fmt.Errorf("client %s did not come to a write", a.name)
	}
	return err
}

func (a *actor) Shopped() (int, error) {
	came, err := a.scene.until(longStep, func() bool { return a.shop.trip.done })
	if err == nil && !came {
		err = fmt.Errorf("client %s does not come home", a.name)
	}
	return a.shop.writes, err
}
