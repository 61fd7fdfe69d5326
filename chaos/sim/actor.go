package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// actor is a client that a scenario drives. It implements [chaos.Client]: each step is a process of the client's host,
// for which the observer waits.
type actor struct {
	*client
	scene *scene
	hold  chaos.Hold
	loss  *loss                          // what the client hears of the end of that
	at    chaos.Point                    // where it is to stop
	call  *call                          // the last step
	held  func() (chaos.Snapshot, error) // the write that the network holds up
	shop  shopping

	grants int // so far, to a scheme that asks one master after the other
}

// call is a step that a client takes.
type call struct {
	grant   *chaos.Grant
	done    bool
	stopped bool // midway, at the point that was asked for
}

// do has the client do something, until it has or is stopped at the point.
func (a *actor) do(at chaos.Point, step func(*call)) (*call, error) {
	if a.gone() {
		return nil, fmt.Errorf("client %s is dead", a.name)
	}
	x := &call{}
	a.at, a.call = at, x
	a.world.kernel.spawn(&a.host, 0, func() {
		step(x)
		x.done = true
		a.scene.notify()
	})
	return x, a.await(x)
}

func (a *actor) await(x *call) error {
	came, err := a.scene.until(longStep, func() bool { return x.done || x.stopped })
	if err == nil && !came {
		err = fmt.Errorf("client %s does not come to an end", a.name)
	}
	return err
}

func (a *actor) Acquire(patience time.Duration, at chaos.Point) (*chaos.Grant, error) {
	x, err := a.do(at, func(x *call) { x.grant = a.tryFor(patience) })
	if err != nil {
		return nil, err
	}
	return x.grant, nil
}

// tryFor makes one attempt after the other until one is granted, or patience is over.
func (a *actor) tryFor(patience time.Duration) *chaos.Grant {
	for end := a.scene.Now() + patience; ; {
		hold, err := a.locker.Acquire(context.Background(), lockName)
		now := a.scene.Now()
		if err == nil {
			a.hold = hold
			a.watch()
			grant := &chaos.Grant{Granted: true, Token: hold.Token(), At: now}
			if left := hold.Remaining(); left < longest {
				grant.Until = now + a.clock.real(left)
			}
			return grant
		}
		if now >= end {
			return &chaos.Grant{At: now, Why: briefly(err), Quorum: errors.Is(err, redlock.ErrNoQuorum)}
		}
		if a.rest(retryPause, retryPause) != nil {
			return &chaos.Grant{At: now, Why: errOver.Error()}
		}
	}
}

// rest sleeps for a while, and up to so much longer.
func (a *actor) rest(least, more time.Duration) error {
	return a.clock.Sleep(context.Background(), least+time.Duration(a.world.random.Uint64N(uint64(more))))
}

// briefly leaves out what each master said.
func briefly(err error) string {
	if e := new(redlock.QuorumError); errors.As(err, &e) {
		short := *e
		short.Errors = nil
		return short.Error()
	}
	return err.Error()
}

// loss is when and why a client ceased to believe that it has the lock.
type loss struct {
	over bool
	at   time.Duration
	why  string
}

// watch has the client notice the end of its hold: by the hold's context if it has one, else by what is left.
func (a *actor) watch() {
	l, hold := &loss{}, a.hold
	a.loss = l
	a.world.kernel.spawn(&a.host, 0, func() {
		why := "its lease is over"
		if c, ok := hold.(interface{ Context() context.Context }); ok {
			if a.clock.Sleep(c.Context(), clock.Forever); c.Context().Err() == nil {
				return
			}
			why = context.Cause(c.Context()).Error()
		} else {
			for left := hold.Remaining(); left > 0; left = hold.Remaining() {
				if a.clock.Sleep(context.Background(), left) != nil {
					return
				}
			}
		}
		l.over, l.at, l.why = true, a.scene.Now(), why
		a.scene.notify()
	})
}

func (a *actor) AwaitLoss(patience time.Duration) (at time.Duration, why string, lost bool, err error) {
	if a.loss == nil {
		return 0, "", false, errNoLock
	}
	lost, err = a.scene.until(patience, func() bool { return a.loss.over })
	return a.loss.at, a.loss.why, lost, err
}

// giveBack releases the lock, in the process that has it.
func (a *actor) giveBack() {
	hold := a.hold
	a.hold, a.loss = nil, nil
	hold.Release(context.Background())
}

var errNoLock = errors.New("without a lock")

func (a *actor) Check() (remaining time.Duration, err error) {
	err = a.inside(func() { remaining = a.hold.Remaining() })
	return remaining, err
}

// inside is do for a client that has the lock.
func (a *actor) inside(step func()) error {
	if a.hold == nil {
		return errNoLock
	}
	_, err := a.do("", func(*call) { step() })
	return err
}

// Release gives up the lock. What a late release says is up to the scheme; that it deletes nobody else's lock shows at
// the masters.
func (a *actor) Release(at chaos.Point) error {
	if a.hold == nil {
		return errNoLock
	}
	hold := a.hold
	a.hold, a.loss = nil, nil
	x, err := a.do(at, func(*call) { hold.Release(context.Background()) })
	if err == nil && at != "" && !x.stopped {
		err = fmt.Errorf("client %s was to be stopped at %s, but came to an end before", a.name, at)
	}
	return err
}

func (a *actor) Die() error {
	a.world.kernel.crash(&a.host)
	return nil
}

func (a *actor) Read() (found chaos.Snapshot, err error) {
	return found, errors.Join(a.inside(func() { found, err = a.look() }), err)
}

func (a *actor) Write(base chaos.Snapshot, value int) (now chaos.Snapshot, err error) {
	return now, errors.Join(a.inside(func() { now, err = a.put(base, value) }), err)
}

func (a *actor) look() (found chaos.Snapshot, err error) {
	token := a.hold.Token()
	silent := a.atStore(func() { found, err = a.world.register.Read(a.name, token) })
	return found, errors.Join(silent, err)
}

func (a *actor) put(base chaos.Snapshot, value int) (now chaos.Snapshot, err error) {
	token := a.hold.Token()
	silent := a.atStore(func() { now, err = a.world.register.Write(a.name, token, base, value) })
	return now, errors.Join(silent, err)
}

// SendWrite leaves the write in the network: from there it arrives whatever becomes of the client.
func (a *actor) SendWrite(base chaos.Snapshot, value int) (string, error) {
	if a.hold == nil {
		return "", errNoLock
	}
	token := a.hold.Token()
	a.held = func() (chaos.Snapshot, error) { return a.world.register.Write(a.name, token, base, value) }
	return "", nil
}

func (a *actor) LetWriteArrive() (chaos.Snapshot, error) {
	if a.held == nil {
		return chaos.Snapshot{}, fmt.Errorf("client %s has sent no write", a.name)
	}
	arrive := a.held
	a.held = nil
	if err := a.scene.Wait(latency); err != nil {
		return chaos.Snapshot{}, err
	}
	return arrive()
}
