package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/redlock"
)

const (
	// hang bounds whatever should happen soon: a test that comes near it hangs.
	hang = 30 * time.Second

	// long is a TTL that no test lives to see the end of: what is gone before has been deleted.
	long = 2 * hang
)

// patient are the options that clients have unless a test says otherwise: on a busy machine an answer may take a while.
func patient(opts []redlock.Option) []redlock.Option {
	return append([]redlock.Option{redlock.WithTTL(long), redlock.WithNodeTimeout(hang / 2)}, opts...)
}

// folder is where the nodes of all tests work.
var folder string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests runs all tests, and wants every goroutine that they started to be gone afterwards.
func runTests(m *testing.M) int {
	redis.SetLogger(silence{})
	before := runtime.NumGoroutine()
	var err error
	if folder, err = os.MkdirTemp("", "redlock-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	status := m.Run()
	if stacks := goroutinesAbove(before); status == 0 && stacks != "" {
		fmt.Fprintf(os.Stderr, "goroutines outlive the tests:\n%s\n", stacks)
		return 1
	}
	return status
}

// silence is the log of go-redis, which would tell of every node that a test kills.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// A cluster is some masters and, for each, a connection of the test's own to look at it with.
type cluster struct {
	t     testing.TB
	nodes []live.Node
	eyes  []*redis.Client
}

// masters starts n redis-servers or, where there are none, embedded nodes. They are gone when the test ends.
func masters(t testing.TB, n int) *cluster {
	t.Helper()
	if c, ok := servers(t, n); ok {
		return c
	}
	return start(t, live.Embedded, n)
}

// servers starts n redis-servers. If ok is false there are none on this machine, and the test returns.
func servers(t testing.TB, n int) (c *cluster, ok bool) {
	t.Helper()
	if _, ok := testenv.RedisServer(t); !ok {
		return nil, false
	}
	return start(t, live.Process, n), true
}

func start(t testing.TB, kind live.Kind, n int) *cluster {
	t.Helper()
	nodes, err := live.StartNodes(bounded(t), live.Config{Kind: kind, N: n, Dir: folder})
	must(t, err)
	c := &cluster{t: t, nodes: nodes}
	for _, node := range nodes {
		eye := redis.NewClient(&redis.Options{
			Addr:                     node.Addr(),
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		c.eyes = append(c.eyes, eye)
		t.Cleanup(func() { must(t, errors.Join(eye.Close(), node.Close())) })
	}
	return c
}

// in returns the same cluster for a subtest.
func (c *cluster) in(t testing.TB) *cluster { return &cluster{t: t, nodes: c.nodes, eyes: c.eyes} }

func (c *cluster) addrs() (addrs []string) {
	for _, node := range c.nodes {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// clients returns a go-redis client of default options for each master.
func (c *cluster) clients() []redis.UniversalClient { return clientsOf(c.t, c.addrs()) }

// clientsOf returns a go-redis client of default options for each address.
func clientsOf(t testing.TB, addrs []string) []redis.UniversalClient {
	var clients []redis.UniversalClient
	for _, addr := range addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { client.Close() })
		clients = append(clients, client)
	}
	return clients
}

func (c *cluster) urls() []string {
	urls := c.addrs()
	for i, addr := range urls {
		urls[i] = "redis://" + addr
	}
	return urls
}

// client returns a patient redlock client over go-redis clients of default options.
func (c *cluster) client(opts ...redlock.Option) *redlock.Client {
	c.t.Helper()
	return newClient(c.t, c.clients(), opts...)
}

func newClient(t testing.TB, masters []redis.UniversalClient, opts ...redlock.Option) *redlock.Client {
	t.Helper()
	client, err := redlock.New(masters, patient(opts)...)
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	return client
}

// proxied puts a network of the test's own between the masters and a go-redis client of default options for each. They
// are warm.
func (c *cluster) proxied() ([]*live.Proxy, []redis.UniversalClient) {
	c.t.Helper()
	var proxies []*live.Proxy
	var addrs []string
	for _, node := range c.nodes {
		p, err := live.NewProxy(node.Addr())
		must(c.t, err)
		c.t.Cleanup(func() { must(c.t, p.Close()) })
		proxies = append(proxies, p)
		addrs = append(addrs, p.Addr())
	}
	return proxies, c.warm(clientsOf(c.t, addrs))
}

// warm uses every master once through these clients: then they have a connection to each, which knows the scripts, and
// a fault meets the command that it is meant for.
func (c *cluster) warm(clients []redis.UniversalClient) []redis.UniversalClient {
	c.t.Helper()
	client := newClient(c.t, clients)
	drop(c.t, take(c.t, client, "warm"))
	c.willHaveRun("warm")
	must(c.t, client.Close())
	return clients
}

func (c *cluster) pause(nodes ...int) {
	c.t.Helper()
	for _, i := range nodes {
		must(c.t, c.nodes[i].Pause(bounded(c.t)))
	}
}

func (c *cluster) resume(nodes ...int) {
	c.t.Helper()
	for _, i := range nodes {
		must(c.t, c.nodes[i].Resume(bounded(c.t)))
	}
}

// each does something to some of the masters, to all if none is named.
func (c *cluster) each(do func(ctx context.Context, eye *redis.Client) error, nodes ...int) {
	c.t.Helper()
	for i, eye := range c.eyes {
		if len(nodes) == 0 || slices.Contains(nodes, i) {
			must(c.t, do(bounded(c.t), eye))
		}
	}
}

func (c *cluster) set(key, value string, nodes ...int) {
	c.t.Helper()
	c.each(func(ctx context.Context, eye *redis.Client) error { return eye.Set(ctx, key, value, 0).Err() }, nodes...)
}

func (c *cluster) del(key string, nodes ...int) {
	c.t.Helper()
	c.each(func(ctx context.Context, eye *redis.Client) error { return eye.Del(ctx, key).Err() }, nodes...)
}

// get returns what each master has under a key, "" for nothing.
func (c *cluster) get(key string) []string {
	c.t.Helper()
	var values []string
	c.each(func(ctx context.Context, eye *redis.Client) error {
		value, err := eye.Get(ctx, key).Result()
		if err != nil && err != redis.Nil {
			return err
		}
		values = append(values, value)
		return nil
	})
	return values
}

// held returns how many masters have the key.
func (c *cluster) held(key string) int {
	c.t.Helper()
	return len(slices.DeleteFunc(c.get(key), func(value string) bool { return value == "" }))
}

// locks returns the keys on all masters that are no counters.
func (c *cluster) locks() []string {
	c.t.Helper()
	var locks []string
	c.each(func(ctx context.Context, eye *redis.Client) error {
		keys, err := eye.Keys(ctx, "*").Result()
		for _, key := range keys {
			if !strings.HasSuffix(key, ":fence") {
				locks = append(locks, key)
			}
		}
		return err
	})
	return locks
}

// willHaveRun waits until an acquire has been counted on each of the masters, on all if none is named: so what may be
// left of it is there.
func (c *cluster) willHaveRun(name string, nodes ...int) {
	c.t.Helper()
	counter := redlock.Command{Name: name}.Counter()
	c.each(func(ctx context.Context, eye *redis.Client) error {
		eventually(c.t, "the acquire is carried out", func() bool { return eye.Exists(ctx, counter).Val() == 1 })
		return nil
	}, nodes...)
}

// willBeFree waits until no master has any key but counters.
func (c *cluster) willBeFree() {
	c.t.Helper()
	eventually(c.t, "no lock is left on any master", func() bool { return len(c.locks()) == 0 })
}

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	return ctx
}

// eventually fails the test unless ok comes true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.After(hang)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never came true: %s", what)
		}
	}
}

// goroutinesAbove waits until there are no more goroutines than that; the stacks tell of those that stay.
func goroutinesAbove(n int) (stacks string) {
	limit := time.Now().Add(hang)
	for runtime.NumGoroutine() > n {
		if time.Now().After(limit) {
			all := make([]byte, 1<<20)
			return string(all[:runtime.Stack(all, true)])
		}
		runtime.Gosched()
	}
	return ""
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustBe wants an error that matches all targets.
func mustBe(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("got error %v, want one that is %q", err, target)
		}
	}
}

// take acquires a lock that is free.
func take(t testing.TB, client *redlock.Client, name string, opts ...redlock.Option) *redlock.Lock {
	t.Helper()
	l, err := client.Acquire(bounded(t), name, opts...)
	must(t, err)
	return l
}

// drop is a Release that must succeed.
func drop(t testing.TB, l *redlock.Lock) {
	t.Helper()
	must(t, l.Release(bounded(t)))
}
