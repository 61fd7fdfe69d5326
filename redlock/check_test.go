package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// says reports whether one of the texts contains a part.
func says(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
}

func TestCheckTellsWhatMastersAre(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	for i := range c.nodes {
		do("CONFIG SET appendonly yes")(t, c, i)
	}
	client := c.client(redlock.WithTTL(100*time.Millisecond), redlock.WithNodeTimeout(50*time.Millisecond))
	health, err := client.Check(bounded(t))
	must(t, err)
	if len(health.Masters) != 5 {
		t.Fatalf("%d masters", len(health.Masters))
	}
	for i, m := range health.Masters {
		if m.Node != c.nodes[i].Addr() || !m.Reachable || m.Version == "" || m.RunID == "" || m.Role != "master" ||
			m.MaxmemoryPolicy != "noeviction" || m.AppendOnly != "yes" || m.AppendFsync != "always" ||
			m.ClockOffset.Abs() > hang || m.RoundTrip <= 0 || m.Uptime > hang || len(m.Errors) > 0 {
			t.Errorf("master %d: %+v", i, m)
		}
		for _, warning := range m.Warnings {
			if !strings.Contains(warning, "it started") {
				t.Errorf("master %d: %s", i, warning)
			}
		}
	}
	if left := c.locks(); len(left) > 0 {
		t.Errorf("Check left keys behind: %q", left)
	}
}

func TestCheckRefusesTheSameServerTwice(t *testing.T) {
	c, ok := servers(t, 4)
	if !ok {
		return
	}
	proxies, _ := c.proxied()
	addrs := append(c.addrs(), proxies[1].Addr())
	client := newClient(t, clientsOf(t, addrs))
	health, err := client.Check(bounded(t))
	mustRefuse(t, err, "is the same server as "+addrs[1])
	if len(health.Masters[4].Errors) != 1 || len(health.Masters[1].Errors) != 0 {
		t.Errorf("%+v", health.Masters)
	}
	var urls []string
	for _, addr := range addrs {
		urls = append(urls, "redis://"+addr)
	}
	_, err = redlock.Connect(bounded(t), urls)
	mustRefuse(t, err, "is the same server as "+addrs[1])
}

func TestCheckRefusesAReplica(t *testing.T) {
	c, ok := servers(t, 3)
	if !ok {
		return
	}
	host, port, _ := strings.Cut(c.nodes[0].Addr(), ":")
	do("REPLICAOF "+host+" "+port)(t, c, 2)
	health, err := c.client().Check(bounded(t))
	mustRefuse(t, err, "is a replica")
	if health.Masters[2].Role != "slave" || len(health.Masters[2].Errors) != 1 {
		t.Errorf("%+v", health.Masters[2])
	}
	var e *redlock.QuorumError
	if !errors.As(err, &e) || e.Op != "check" || e.Won != 2 || e.Lost != 1 || e.Unknown != 0 {
		t.Errorf("%+v", e)
	}
}

// pretender starts a server that says it is of some version, and answers scripts.
func pretender(t *testing.T, info string) string {
	t.Helper()
	s, err := server.NewServer("127.0.0.1:0")
	must(t, err)
	t.Cleanup(s.Close)
	for command, answer := range map[string]func(p *server.Peer){
		"INFO":   func(p *server.Peer) { p.WriteBulk("# Server\r\n" + info + "\r\nrole:master\r\n") },
		"CONFIG": func(p *server.Peer) { p.WriteLen(0) },
		"EVAL":   func(p *server.Peer) { p.WriteStrings([]string{"gone", "0"}) },
		"TIME": func(p *server.Peer) {
			now := time.Now()
			p.WriteStrings([]string{fmt.Sprint(now.Unix()), fmt.Sprint(now.Nanosecond() / 1000)})
		},
	} {
		must(t, s.Register(command, func(p *server.Peer, _ string, _ []string) { answer(p) }))
	}
	return s.Addr().String()
}

func TestCheckRefusesAServerThatIsTooOld(t *testing.T) {
	for version, good := range map[string]bool{
		"6.2.0": true, "6.2": true, "7.0.15": true, "10.0.1": true, "8": true,
		"6.0.16": false, "5.0.7": false, "6.1.999": false, "2.8": false, "unstable": false,
	} {
		health, err := newClient(t, clientsOf(t, []string{pretender(t, "redis_version:"+version)})).Check(bounded(t))
		if good {
			must(t, err)
		} else {
			mustRefuse(t, err, "version "+version+" is older than 6.2")
		}
		if got := health.Masters[0].Version; got != version {
			t.Errorf("%s became %s", version, got)
		}
	}
	valkey := pretender(t, "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1")
	health, err := newClient(t, clientsOf(t, []string{valkey})).Check(bounded(t))
	must(t, err)
	if got := health.Masters[0].Version; got != "8.0.1" {
		t.Errorf("version %s", got)
	}
}

func TestCheckBearsAMinorityThatCannotBeReached(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	client := c.client()
	for down, want := range []error{nil, nil, nil, redlock.ErrNoQuorum, redlock.ErrNoQuorum, redlock.ErrNoQuorum} {
		if down > 0 {
			must(t, c.nodes[down-1].Kill(bounded(t)))
		}
		health, err := client.Check(bounded(t))
		for i, m := range health.Masters {
			if m.Reachable != (i >= down) || (len(m.Errors) > 0) != (i < down) {
				t.Errorf("%d are down; master %d: %+v", down, i, m)
			}
		}
		if want == nil {
			must(t, err)
			connected, err := redlock.Connect(bounded(t), c.urls())
			must(t, err)
			must(t, connected.Close())
			continue
		}
		mustBeOnly(t, err, want)
		_, err = redlock.Connect(bounded(t), c.urls())
		mustBeOnly(t, err, want)
	}
}

func TestCheckGivesUpOnMastersThatSayNothing(t *testing.T) {
	t.Parallel()
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	clients := map[string]*redlock.Client{
		"connected":     newClient(t, c.warm(c.clients())),
		"not connected": c.client(),
	}
	c.pause(0, 1, 2)
	t.Run("stopped", func(t *testing.T) {
		for what, client := range clients {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				health, err := client.Check(bounded(t))
				mustBeOnly(t, err, redlock.ErrNoQuorum)
				for i, m := range health.Masters {
					if m.Reachable != (i > 2) {
						t.Errorf("master %d: %+v", i, m)
					}
				}
			})
		}
	})
	c.resume(0, 1, 2)
}

func TestCheckEndsWithItsContext(t *testing.T) {
	c := masters(t, 1)
	ctx, cancel := context.WithCancel(bounded(t))
	cancel()
	_, err := c.client().Check(ctx)
	mustBe(t, err, context.Canceled)
}

func TestCheckWarnsOfWhatAnOperatorShouldKnow(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	// Before the others: a node's clock moves its uptime too.
	t.Run("clock", func(t *testing.T) {
		if _, ok := testenv.Compiler(t); !ok {
			return
		}
		for i, step := range []time.Duration{time.Hour, -time.Hour} {
			_, err := c.nodes[i].StepClock(bounded(t), step)
			must(t, err)
		}
		health, err := c.in(t).client().Check(bounded(t))
		must(t, err)
		for i, m := range health.Masters {
			if off := says(m.Warnings, "its clock is"); off != (i < 2) {
				t.Errorf("master %d is %v off: %q", i, m.ClockOffset, m.Warnings)
			}
		}
		for i, step := range []time.Duration{-time.Hour, time.Hour} {
			_, err := c.nodes[i].StepClock(bounded(t), step)
			must(t, err)
		}
	})
	for _, test := range []struct {
		begin, end, warning string
	}{
		{"CONFIG SET maxmemory-policy allkeys-lru", "CONFIG SET maxmemory-policy noeviction", "allkeys-lru may delete locks"},
		{"CONFIG SET maxmemory-policy volatile-ttl", "CONFIG SET maxmemory-policy noeviction", "volatile-ttl may delete locks"},
		{"CONFIG SET appendonly no", "", "appendonly is off"},
		{"CONFIG SET appendonly yes appendfsync everysec", "CONFIG SET appendonly no", "appendfsync everysec"},
		{"ACL SETUSER default -info", "ACL SETUSER default +@all", "INFO may not be asked"},
		{"ACL SETUSER default -config", "ACL SETUSER default +@all", "CONFIG GET may not be asked"},
		{"ACL SETUSER default -time", "ACL SETUSER default +@all", "TIME may not be asked"},
		{"ACL SETUSER default -eval", "ACL SETUSER default +@all", "script may not be run"},
		{"PING", "", "less than the TTL"}, // it has just started
	} {
		t.Run(test.warning, func(t *testing.T) {
			c := c.in(t)
			do(test.begin)(t, c, 3)
			health, err := c.client().Check(bounded(t))
			must(t, err) // a warning is no failure
			if m := health.Masters[3]; !says(m.Warnings, test.warning) || len(m.Errors) > 0 || !m.Reachable {
				t.Errorf("%+v", m)
			}
			if test.end != "" {
				do(test.end)(t, c, 3)
			}
		})
	}
}

func TestNoErrorOfConnectHoldsAPassword(t *testing.T) {
	const password = "s3cr3t"
	for _, url := range []string{
		"redis://user:s3cr3t@127.0.0.1:notaport", "redis://user:s3cr3t@[::1", "redis://user:s3cr3t%zz@127.0.0.1:1",
		"redis://user:s3cr3t@127.0.0.1:1/notadb", "redis://user:s3cr3t@127.0.0.1:1?dial_timeout=s3cr3t",
		"redis://user:s3cr3t@127.0.0.1:1?s3cr3t=1", "http://user:s3cr3t@127.0.0.1:1", "user:s3cr3t@127.0.0.1:1",
		"://user:s3cr3t@127.0.0.1:1", "s3cr3t", "redis://user:s3cr3t\x00@127.0.0.1:1", "redis://user:s3cr3t@ 127.0.0.1",
	} {
		for _, urls := range [][]string{{url}, {"redis://127.0.0.1:1", url, "redis://127.0.0.1:1"}} {
			_, err := redlock.Connect(bounded(t), urls)
			mustBeOnly(t, err, redlock.ErrInvalid)
			mustNotTell(t, err, password)
		}
	}
	for _, url := range []string{
		"redis://user:s3cr3t@127.0.0.1:1", "rediss://user:s3cr3t@127.0.0.1:1", "unix://user:s3cr3t@/no/such/socket",
		"redis://user:s3cr3t@127.0.0.1:1/15?dial_timeout=1s",
	} {
		_, err := redlock.Connect(bounded(t), []string{url})
		mustBeOnly(t, err, redlock.ErrNoQuorum)
		mustNotTell(t, err, password)
	}
	c := masters(t, 1)
	c.each(func(ctx context.Context, eye *redis.Client) error {
		_, err := redlock.Connect(ctx, []string{"redis://user:s3cr3t@" + c.nodes[0].Addr()})
		mustBeOnly(t, err, redlock.ErrNoQuorum)
		mustNotTell(t, err, password)
		return nil
	})
}

// mustNotTell wants no error of a tree to hold a secret.
func mustNotTell(t *testing.T, err error, secret string) {
	t.Helper()
	if text := fmt.Sprintf("%v %+v %q", err, err, err); strings.Contains(text, secret) {
		t.Errorf("the password is in %s", text)
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapping.Unwrap(); inner != nil {
			mustNotTell(t, inner, secret)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapping.Unwrap() {
			mustNotTell(t, inner, secret)
		}
	}
}
