package sim

import (
	"container/heap"
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
	events  int // carried out
	over    bool
}

// reset readies the kernel for another world.
func (k *kernel) reset() {
	for _, e := range k.queue {
		*e = event{}
		k.spare = append(k.spare, e)
	}
	k.queue = k.queue[:0]
	k.now, k.planned, k.events, k.over = 0, 0, 0, false
}

// close ends the coroutines that are kept for reuse.
func (k *kernel) close() {
	for _, p := range k.idle {
		p.stop()
	}
	k.idle = nil
}

// event is something that happens at a time: a call of do, or the end of a process' wait, or a packet's arrival. (These are
// by far the most, so they do without a closure.) One that belongs to a host waits while that is paused, and does not
// happen once it has crashed.
type event struct {
	at    time.Duration
	order uint64
	host  *host

	do     func()
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

type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *queue) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

// after plans a call.
func (k *kernel) after(d time.Duration, h *host, do func()) {
	k.plan(d, event{host: h, do: do})
}

// plan plans an event.
func (k *kernel) plan(d time.Duration, e event) {
	k.planned++
	e.at, e.order = k.now+max(d, 0), k.planned
	place := new(event)
	if n := len(k.spare); n > 0 {
		place, k.spare = k.spare[n-1], k.spare[:n-1]
	}
	*place = e
	heap.Push(&k.queue, place)
}

// run carries out events until done says so, none is left, or the limit is passed; then it ends every process.
func (k *kernel) run(limit time.Duration, done func() bool) {
	for len(k.queue) > 0 && !done() {
		next := heap.Pop(&k.queue).(*event)
		e := *next
		*next = event{}
		k.spare = append(k.spare, next)
		if e.at > limit {
			break
		}
		k.now = e.at
		k.carryOut(e)
		k.wakeEnded()
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
	case e.wake != nil:
		if e.wake.parked && e.wake.wakes == e.wakes {
			k.unpark(e.wake)
			k.resume(e.wake)
		}
	default:
		e.packet.arrive()
	}
}

// wakeEnded wakes the processes whose context has ended. Contexts end at once and only inside events, so that looking
// after each event misses none.
func (k *kernel) wakeEnded() {
	for _, p := range k.parked {
		if p.ctx != nil && p.ctx.Err() != nil {
			p.ctx = nil // once is enough
			k.wakeSoon(p, p.wakes)
		}
	}
}

// spawn starts a process of a host, as an event of its own.
func (k *kernel) spawn(h *host, d time.Duration, f func()) {
	k.spawnIf(h, d, func() bool { return true }, f)
}

// spawnIf does so if it is still wanted when its time comes.
func (k *kernel) spawnIf(h *host, d time.Duration, wanted func() bool, f func()) {
	k.after(d, h, func() {
		if !wanted() {
			return
		}
		p := k.process()
		p.host, p.job = h, f
		k.resume(p)
	})
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
	k.running = p
	p.next()
	k.running = before
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
	p.ctx, p.parked = ctx, true
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

// sleep lets the running process wait for a time, or until ctx ends.
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
	k.stop(h)
	k.after(d, nil, func() { k.goOn(h) })
}

func (k *kernel) stop(h *host) { h.paused++ }

// goOn ends one pause.
func (k *kernel) goOn(h *host) {
	if h.paused--; h.paused > 0 {
		return
	}
	backlog := h.backlog
	h.backlog = nil
	for _, e := range backlog {
		k.plan(0, e)
	}
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
