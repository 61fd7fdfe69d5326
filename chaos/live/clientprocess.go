package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/quorum"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// clientEnv marks a process that the harness started as a client: the same program, once more.
const clientEnv = "QUORUMLOCK_CHAOS_CLIENT"

// BeClient turns this process into a client if the harness started it as one, and then does not return. A program
// that plays scenarios calls it first thing in main, a test first thing in TestMain.
func BeClient() {
	if os.Getenv(clientEnv) == "" {
		return
	}
	if err := serveClient(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is the client's state. One request is carried out at a time, but that an acquire may wait inside for goOn.
type process struct {
	setup    setup
	locker   chaos.Locker
	clock    *clock.Skewed
	resource resourceClient
	hold     chaos.Hold

	at      chaos.Point   // where to wait; only the acquire looks at it, not what else may run in the background
	reached chan struct{} // that point is reached
	resume  chan struct{} // goOn
	outcome chan reply    // of the acquire
}

// serveClient carries out requests until in ends.
func serveClient(in io.Reader, out io.Writer) error {
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	var s setup
	if err := requests.Decode(&s); err != nil {
		return fmt.Errorf("read the setup: %w", err)
	}
	p, err := newProcess(s)
	if err != nil {
		return err
	}
	for {
		var r request
		if err := requests.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // the harness has closed its end: the lock, if any, is left to expire
			}
			return fmt.Errorf("read a request: %w", err)
		}
		if err := replies.Encode(p.carryOut(r)); err != nil {
			return fmt.Errorf("write a reply: %w", err)
		}
	}
}

func newProcess(s setup) (*process, error) {
	scheme, err := schemes.ByName(s.Scheme)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silent{}) // masters are killed on purpose
	var clients []redis.UniversalClient
	for _, url := range s.Masters {
		c, err := newRedisClient(url)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	masters, err := redlock.RedisMasters(clients)
	if err != nil {
		return nil, err
	}
	p := &process{
		setup:    s,
		clock:    clock.NewSkewed(clock.System()),
		resource: resourceClient{url: s.Resource, client: s.Name},
		reached:  make(chan struct{}),
		resume:   make(chan struct{}),
		outcome:  make(chan reply, 1),
	}
	p.locker, err = scheme.Open(chaos.Env{
		Masters: stopping{masters, p},
		Plain:   &plain{masters: clients, process: p},
		Clock:   p.clock,
		Random:  rand.Reader,
		TTL:     s.TTL,
	})
	return p, err
}

func (p *process) carryOut(r request) reply {
	switch r.Do {
	case doAcquire:
		p.at = r.At
		go func() { p.outcome <- p.acquire(r.Patience) }()
		select {
		case <-p.reached:
			return reply{At: r.At}
		case done := <-p.outcome:
			return done
		}
	case doGoOn:
		p.resume <- struct{}{}
		return <-p.outcome
	case doShiftClock:
		p.clock.Step(r.Shift)
		return reply{}
	case doPinClock:
		p.clock.Freeze(r.Wall)
		return reply{}
	}
	if p.hold == nil {
		return reply{Err: fmt.Sprintf("%s without a lock", r.Do)}
	}
	switch r.Do {
	case doCheck:
		return reply{Remaining: p.hold.Remaining()}
	case doRead:
		value, err := p.resource.read(p.hold.Token())
		return outcome(reply{Value: value}, err)
	case doWrite:
		return outcome(reply{}, p.resource.write(p.hold.Token(), r.Value))
	case doRelease:
		// What a late release says is up to the scheme; that it deletes nobody else's lock shows at the masters.
		p.hold.Release(context.Background())
		p.hold = nil
		return reply{}
	}
	return reply{Err: fmt.Sprintf("unknown request %q", r.Do)}
}

// acquire asks once, and then again until patience is over.
func (p *process) acquire(patience time.Duration) reply {
	const pause = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		hold, err := p.locker.Acquire(context.Background(), p.setup.Lock)
		if err == nil {
			p.hold = hold
			return reply{Grant: &chaos.Grant{Granted: true, Token: hold.Token()}}
		}
		select {
		case <-ctx.Done():
			return reply{Grant: &chaos.Grant{Why: briefly(err)}}
		case <-time.After(pause):
		}
	}
}

func outcome(r reply, err error) reply {
	if err != nil {
		r.Err, r.Stale = err.Error(), errors.Is(err, chaos.ErrStale)
	}
	return r
}

// stopping stands between a scheme and its masters, and waits at the point that was asked for until it is told to go on.
type stopping struct {
	redlock.Masters
	process *process
}

func (m stopping) Send(ctx context.Context, cmd redlock.Command) iter.Seq[redlock.Reply] {
	replies := m.Masters.Send(ctx, cmd)
	switch {
	case cmd.Op == redlock.OpConfirm && m.process.at == chaos.BeforeConfirm:
		return func(yield func(redlock.Reply) bool) {
			m.process.wait()
			replies(yield)
		}
	case cmd.Op == redlock.OpAcquire && m.process.at == chaos.FirstAnswer:
		return func(yield func(redlock.Reply) bool) {
			all := slices.Collect(replies)
			if granted(all) >= quorum.Majority(len(all)) {
				m.process.wait() // else there is nothing to sit on, and the scenario is not reached
			}
			slices.Values(all)(yield)
		}
	}
	return replies
}

// NodeName names the masters as the scenarios do.
func (m stopping) NodeName(node int) string { return nodeName(node) }

func granted(replies []redlock.Reply) (n int) {
	for _, r := range replies {
		if r.Err == nil && r.Status == redlock.Done {
			n++
		}
	}
	return n
}

// wait is reached once for each acquire.
func (p *process) wait() {
	p.at = ""
	p.reached <- struct{}{}
	<-p.resume
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

// silent drops what go-redis would log.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
