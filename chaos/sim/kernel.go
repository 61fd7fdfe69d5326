package sim

import (
	"context"
	"errors"
	"iter"
	"time"
)

// errOver ends what a process waits for when its world is over or its host has crashed.
var errOver = errors.New("sim: the world is over")

// kernel is the one event loop: it owns virtual time, and whatever happens, happens in an event. Processes are
// coroutines, which run from one wait to the next inside an event; so nothing is ever concurrent, and the order of
// events follows from their times and, at one time, from the order in which they were planned.
type kernel struct {
	now     time.Duration
	planned uint64
	queue   queue
	spare   []*event   // to be used again
	parked  []*process // in the order in which they came to wait
	idle    []*process // done, and ready to be another
	running *process
	events  int  // carried out
	ran     bool // a process has, in the event that is being carried out
	over    bool
}

// reset readies the kernel for another world.
func (k *kernel) reset() {
	for _, next := range k.queue {
		k.free(next.event)
	}
	clear(k.queue)
	k.queue = k.queue[:0]
	k.now, k.planned, k.events, k.ran, k.over = 0, 0, 0, false, false
}

// close ends the coroutines that are kept for reuse.
func (k *kernel) close() {
	for _, p := range k.idle {
		p.stop()
	}
	k.idle = nil
}

// event is something that happens at a time: a call of do, the start of a process, the end of its wait, or a packet's
// arrival. (All but the first are many, so they do without a closure.) One that belongs to a host waits while that is paused, and does not
// happen once it has crashed.
type event struct {
	host *host

	do     func()
	start  *timer
	wake   *process
	wakes  int
	packet packet
}

// host is a machine or operating system process: what pauses and crashes as one.
type host struct {
	paused  int // how many pauses are on
	crashed bool
	backlog []event // what came while it was paused
}

// process is a thread of a host.
type process struct {
	host   *host
	job    func()
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	ctx    context.Context // ends the wait early; nil when it has
	wakes  int             // counts the waits, so that a late wake-up is known as such
	parked bool
	ended  bool // the wait is over because nothing is to come any more
}

// after plans a call.
func (k *kernel) after(d time.Duration, h *host, do func()) {
	k.plan(d, event{host: h, do: do})
}

// plan plans an event.
func (k *kernel) plan(d time.Duration, e event) {
	k.planned++
	var place *event
	if n := len(k.spare); n > 0 {
		place, k.spare = k.spare[n-1], k.spare[:n-1]
	} else {
		place = new(event)
	}
	*place = e
	k.queue.push(item{k.now + max(d, 0), k.planned, place})
}

// free takes an event back, to be used again.
func (k *kernel) free(e *event) {
	*e = event{}
	k.spare = append(k.spare, e)
}

// run carries out events until done says so, none is left, or the limit is passed; then it ends every process.
func (k *kernel) run(limit time.Duration, done func() bool) {
	for len(k.queue) > 0 {
		next := k.queue.pop()
		e := *next.event
		k.free(next.event)
		if next.at > limit {
			break
		}
		k.now = next.at
		k.carryOut(e)
		if !k.ran {
			continue // so no context has ended, and nobody is done
		}
		k.ran = false
		k.wakeEnded()
		if done() {
			break
		}
	}
	k.over = true
	for len(k.parked) > 0 {
		k.end(k.parked[0])
	}
}

func (k *kernel) carryOut(e event) {
	if e.host != nil {
		if e.host.crashed {
			return
		}
		if e.host.paused > 0 {
			e.host.backlog = append(e.host.backlog, e)
			return
		}
	}
	k.events++
	switch {
	case e.do != nil:
		e.do()
	case e.start != nil:
		k.start(e.host, e.start)
	case e.wake != nil:
		k.wake(e.wake, e.wakes)
	default:
		e.packet.arrive()
	}
}

// wakeEnded wakes the processes whose context has ended. Contexts end at once, and only where processes run, so that
// looking after each event in which one did misses none.
func (k *kernel) wakeEnded() {
	for _, p := range k.parked {
		if p.ctx != nil && p.ctx.Err() != nil {
			p.ctx = nil // once is enough
			k.wakeSoon(p, p.wakes)
		}
	}
}

// timer is a process that is to start at its time, unless it is stopped before.
type timer struct {
	job  func()
	over bool // it has started, or been stopped
}

// stop reports whether the process will not start for that reason.
func (t *timer) stop() bool {
	stopped := !t.over
	t.over = true
	return stopped
}

// spawn plans the start of a process of a host.
func (k *kernel) spawn(h *host, d time.Duration, job func()) *timer {
	t := &timer{job: job}
	k.plan(d, event{host: h, start: t})
	return t
}

func (k *kernel) start(h *host, t *timer) {
	if t.over {
		return
	}
	t.over = true
	p := k.process()
	p.host, p.job = h, t.job
	k.resume(p)
}

// process returns a coroutine that carries out its job when it is resumed, and after it is kept for another: to make
// one takes longer than most of them run.
func (k *kernel) process() *process {
	if n := len(k.idle); n > 0 {
		p := k.idle[n-1]
		k.idle = k.idle[:n-1]
		return p
	}
	p := new(process)
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		for {
			p.job()
			p.host, p.job, p.ctx = nil, nil, nil
			p.wakes++ // what was to wake the last one must not wake the next
			k.idle = append(k.idle, p)
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return p
}

// resume runs a process until it waits again or ends.
func (k *kernel) resume(p *process) {
	before := k.running
	k.running, k.ran = p, true
	p.next()
	k.running = before
}

// wake ends a process' wait, if it is still the one that is meant. It is for the event loop, not for processes.
func (k *kernel) wake(p *process, wakes int) {
	if p.parked && p.wakes == wakes {
		k.unpark(p)
		k.resume(p)
	}
}

// wakeSoon plans the end of a process' wait.
func (k *kernel) wakeSoon(p *process, wakes int) { k.wakeAfter(0, p, wakes) }

func (k *kernel) wakeAfter(d time.Duration, p *process, wakes int) {
	k.plan(d, event{host: p.host, wake: p, wakes: wakes})
}

// park lets the running process wait until it is woken, or ctx ends; it reports whether there is a world to wake in.
func (k *kernel) park(ctx context.Context) bool {
	p := k.running
	if k.over || p.host.crashed {
		return false
	}
	p.ctx, p.parked = nil, true
	if ctx.Done() != nil {
		p.ctx = ctx
	}
	k.parked = append(k.parked, p)
	return p.yield(struct{}{}) && !p.ended && !p.host.crashed
}

func (k *kernel) unpark(p *process) {
	p.parked = false
	p.wakes++
	for i, other := range k.parked {
		if other == p {
			k.parked = append(k.parked[:i], k.parked[i+1:]...)
			return
		}
	}
}

// end ends what a process does: it unwinds without another wait.
func (k *kernel) end(p *process) {
	k.unpark(p)
	p.ended = true
	k.resume(p)
	p.ended = false
}

// sleep lets the running process wait for a time, or for ever, or until ctx ends.
func (k *kernel) sleep(ctx context.Context, d time.Duration, forever bool) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	if !forever {
		k.wakeAfter(d, k.running, k.running.wakes)
	}
	if !k.park(ctx) {
		return errOver
	}
	return ctx.Err()
}

// pause stops a host for a time: what reaches it meanwhile waits.
func (k *kernel) pause(h *host, d time.Duration) {
	h.paused++
	k.after(d, nil, func() {
		if h.paused--; h.paused > 0 {
			return
		}
		backlog := h.backlog
		h.backlog = nil
		for _, e := range backlog {
			k.plan(0, e)
		}
	})
}

// stall makes the running process notice a pause of its host: it goes on when the host does.
func (k *kernel) stall() bool {
	if k.running.host.paused == 0 {
		return !k.running.host.crashed && !k.over
	}
	k.wakeSoon(k.running, k.running.wakes)
	return k.park(context.Background())
}

// crash ends a host for good. Its processes are ended as soon as none of them runs.
func (k *kernel) crash(h *host) {
	h.crashed = true
	k.after(0, nil, func() {
		for i := 0; i < len(k.parked); {
			if p := k.parked[i]; p.host == h {
				k.end(p)
				i = 0
			} else {
				i++
			}
		}
	})
}
