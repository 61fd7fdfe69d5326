package redlock_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"github.com/b6e7cabe/quorumlock/internal/testenv"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// Five masters in containers: the lock goes on through the loss of two, one hung and one killed, and not of three.
func TestMastersInContainers(t *testing.T) {
	if _, ok := testenv.Docker(t); !ok {
		return
	}
	pool, err := dockertest.NewPool("")
	if err != nil {
		t.Fatal(err)
	}
	pool.MaxWait = time.Minute
	repository, tag, _ := strings.Cut(cmp.Or(os.Getenv("REDLOCK_REDIS_IMAGE"), "redis:7.4"), ":")
	var containers []*dockertest.Resource
	var urls []string
	for range 5 {
		r, err := pool.RunWithOptions(&dockertest.RunOptions{
			Repository: repository, Tag: tag,
			Cmd: []string{"redis-server", "--appendonly", "yes", "--appendfsync", "always",
				"--maxmemory-policy", "noeviction", "--protected-mode", "no"},
		}, func(c *docker.HostConfig) {
			for port := range c.PortBindings {
				for i := range c.PortBindings[port] {
					c.PortBindings[port][i].HostIP = "127.0.0.1"
				}
			}
		})
		if err != nil {
			testenv.Missing(t, "no redis container can be started (make test builds an image from redis-server if there is one): "+err.Error())
			return
		}
		r.Expire(600) // should this process not live to do it
		t.Cleanup(func() {
			if err := pool.Purge(r); err != nil {
				t.Error(err)
			}
		})
		containers = append(containers, r)
		urls = append(urls, "redis://127.0.0.1:"+r.GetPort("6379/tcp"))
	}
	var locks *redlock.Client
	if err := pool.Retry(func() (err error) { // Docker accepts connections before the server behind them does
		if locks, err = redlock.Connect(t.Context(), urls, redlock.WithQuorum(5)); err == nil {
			err = locks.Close()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	locks, err = redlock.Connect(t.Context(), urls)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { locks.Close() })
	health, err := locks.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range health.Masters {
		if m.AppendFsync != "always" || m.MaxmemoryPolicy != "noeviction" {
			t.Errorf("%+v", m)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last redlock.Token
	again := func(when string) {
		t.Helper()
		l, err := locks.Acquire(ctx, "in-containers")
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if l.Token() <= last {
			t.Errorf("%s: token %d after %d", when, l.Token(), last)
		}
		last = l.Token()
		if err := errors.Join(l.Extend(ctx), l.Release(ctx)); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	again("with five")
	if err := pool.Client.PauseContainer(containers[0].Container.ID); err != nil {
		t.Fatal(err)
	}
	again("with one hung")
	if err := pool.Client.KillContainer(docker.KillContainerOptions{ID: containers[1].Container.ID, Signal: docker.SIGKILL}); err != nil {
		t.Fatal(err)
	}
	again("with one hung and one killed")
	if err := pool.Client.PauseContainer(containers[2].Container.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := locks.TryAcquire(ctx, "in-containers"); !errors.Is(err, redlock.ErrNoQuorum) {
		t.Errorf("with three lost: %v", err)
	}
	for _, i := range []int{0, 2} {
		if err := pool.Client.UnpauseContainer(containers[i].Container.ID); err != nil {
			t.Fatal(err)
		}
	}
	again("with two of them back")
}
