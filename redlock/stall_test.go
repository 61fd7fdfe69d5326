package redlock_test

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// soon is less than any time-out of a go-redis client of default options, and much more than what an answer takes.
const soon = 3 * time.Second

// promptly wants an operation to return soon.
func promptly(t *testing.T, what string, operation func(ctx context.Context) error) error {
	t.Helper()
	start := time.Now()
	err := operation(bounded(t))
	if took := time.Since(start); took > soon {
		t.Errorf("%s took %v", what, took)
	}
	return err
}

// A stranger is a go-redis client of a type that redlock does not know, so that its options stay what they are: it
// ignores contexts, waits for 5 s, and sends again what got no answer.
type stranger struct{ redis.UniversalClient }

// A gate is a go-redis hook that, while it is shut, lets no pipeline through, whatever its context says.
type gate struct {
	mu      sync.Mutex
	way     chan struct{} // closed when the gate is opened; nil when it is open
	waiting int           // pipelines at the shut gate
	largest int           // the most commands that a pipeline had, since the gate was last shut
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.way, g.largest = make(chan struct{}), 0
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.way)
	g.way = nil
}

// blocks reports whether a pipeline waits.
func (g *gate) blocks() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting > 0
}

func (g *gate) largestPipeline() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.largest
}

func (g *gate) pass(commands int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.largest = max(g.largest, commands)
	if way := g.way; way != nil {
		g.waiting++
		g.mu.Unlock()
		<-way
		g.mu.Lock()
		g.waiting--
	}
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		g.pass(len(cmds))
		return next(ctx, cmds)
	}
}

// hooked returns a stranger with a hook. (Of a client that redlock knows it uses a copy, and go-redis leaves a client's
// hooks out of WithTimeout's copy.)
func hooked(t *testing.T, addr string, hook redis.Hook) redis.UniversalClient {
	client := clientsOf(t, []string{addr})[0]
	client.AddHook(hook)
	return stranger{client}
}

// kindsOfClient returns a client for each kind of go-redis client that a caller may come with.
func kindsOfClient(t *testing.T, c *cluster, opts ...redlock.Option) map[string]*redlock.Client {
	t.Helper()
	connected, err := redlock.Connect(bounded(t), c.urls(), patient(opts)...)
	must(t, err)
	t.Cleanup(func() { must(t, connected.Close()) })
	var strangers []redis.UniversalClient
	for _, client := range c.clients() {
		strangers = append(strangers, stranger{client})
	}
	return map[string]*redlock.Client{
		"default options": c.client(opts...),
		"unknown type":    newClient(t, strangers, opts...),
		"Connect":         connected,
	}
}

// cycle acquires, extends twice and releases.
func cycle(t *testing.T, client *redlock.Client, name string) {
	t.Helper()
	var l *redlock.Lock
	must(t, promptly(t, "Acquire", func(ctx context.Context) (err error) {
		l, err = client.Acquire(ctx, name)
		return err
	}))
	must(t, promptly(t, "Extend", l.Extend))
	must(t, promptly(t, "a second Extend", l.Extend))
	must(t, promptly(t, "Release", l.Release))
}

func TestNobodyWaitsForAStoppedMaster(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	// Who waited for the stopped master would wait for the node timeout or for 5 s.
	clients := kindsOfClient(t, c, redlock.WithNodeTimeout(2*soon))
	for _, stopped := range []int{0, 4} {
		c.pause(stopped)
		for kind, client := range clients {
			t.Run(kind, func(t *testing.T) { cycle(t, client, "lock of "+kind) })
		}
		c.resume(stopped)
	}
	c.willBeFree()
}

func TestNobodyWaitsForAClientThatIgnoresItsContext(t *testing.T) {
	c := masters(t, 5)
	clients, slow := c.clients(), new(gate)
	clients[2] = hooked(t, c.nodes[2].Addr(), slow)
	slow.shut()
	client := newClient(t, clients, redlock.WithNodeTimeout(2*soon))
	cycle(t, client, "lock")
	if !slow.blocks() {
		t.Error("nothing was held up: the test shows nothing")
	}
	slow.open()
	c.willHaveRun("lock")
	c.willBeFree()
}

func TestNobodyWaitsForAMasterThatTakesConnectionsAndSaysNothing(t *testing.T) {
	c := masters(t, 4)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the backlog takes connections
	must(t, err)
	defer silent.Close()
	clients := append(c.clients(), clientsOf(t, []string{silent.Addr().String()})...)
	client := newClient(t, clients, redlock.WithNodeTimeout(2*soon))
	cycle(t, client, "lock")
	silent.Close()
	c.willBeFree()
}

func TestAStoppedQuorumIsGivenUpAtTheNodeTimeoutWhichIsNotTheCallers(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	clients := kindsOfClient(t, c, redlock.WithNodeTimeout(500*time.Millisecond))
	locks := map[string]*redlock.Lock{}
	for kind, client := range clients {
		locks[kind] = take(t, client, kind)
		c.willHaveRun(kind)
	}
	c.pause(0, 1, 2)
	t.Run("stopped", func(t *testing.T) {
		for kind, client := range clients {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				for _, ask := range []struct {
					op, name string
					f        func(ctx context.Context) error
				}{
					{"acquire", "another", func(ctx context.Context) error {
						_, err := client.TryAcquire(ctx, "another")
						return err
					}},
					{"extend", kind, locks[kind].Extend},
					{"release", kind, locks[kind].Release},
				} {
					err := promptly(t, ask.op, ask.f)
					mustBeOnly(t, err, redlock.ErrNoQuorum)
					mustBe(t, err, os.ErrDeadlineExceeded)
					mustCount(t, c, err, ask.op, ask.name)
				}
			})
		}
	})
	c.resume(0, 1, 2)
	c.willBeFree()
}
