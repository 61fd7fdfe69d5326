//go:build unix

package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// harnessLabel is on every container, and says whose it is: the harness's machine and process.
const harnessLabel = "quorumlock.harness"

func harness(pid int) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, pid)
}

// container is a redis-server in a container of its own, one for each launch.
type container struct {
	engine *engine
	id     string
	gone   chan struct{}
	why    error // how it ended; to be read when gone is closed
}

// run starts a container. It is not cut short, or nobody would know whether there is one.
func (e *engine) run(ctx context.Context, l launch) (running, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	repository, tag := e.splitImage()
	name := fmt.Sprintf("quorumlock-%d-%s-%08x", os.Getpid(), l.node, rand.Uint32())
	options := &dockertest.RunOptions{
		Name:       name,
		Repository: repository,
		Tag:        tag,
		Entrypoint: []string{"redis-server"}, // and no script of the image
		Cmd:        l.args,
		WorkingDir: l.dir,
		User:       fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
		Labels:     map[string]string{harnessLabel: harness(os.Getpid())},
	}
	if l.preload != "" {
		options.Env = []string{preloadVar + "=" + l.preload, l.env}
	}
	r, err := e.pool.RunWithOptions(options, func(c *docker.HostConfig) {
		c.NetworkMode = "host"
		c.Mounts = []docker.HostMount{{Type: "bind", Source: l.reach, Target: l.reach}}
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a container of image %s: %w", e.image, err), e.remove(name))
	}
	c := &container{engine: e, id: r.Container.ID, gone: make(chan struct{})}
	go c.wait()
	return c, nil
}

// wait notices the container's end.
func (c *container) wait() {
	defer close(c.gone)
	code, err := c.engine.patient.WaitContainer(c.id)
	if err != nil {
		c.why = err
		return
	}
	c.why = fmt.Errorf("exit status %d", code)
}

func (c *container) done() <-chan struct{} { return c.gone }
func (c *container) exit() error           { return c.why }

func (c *container) kill(ctx context.Context) error {
	if err := c.engine.remove(c.id); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("container %.12s is still there after it was removed: %w", c.id, ctx.Err())
	}
}

func (c *container) stop(context.Context) error   { return c.engine.pool.Client.PauseContainer(c.id) }
func (c *container) resume(context.Context) error { return c.engine.pool.Client.UnpauseContainer(c.id) }

func (c *container) log() string {
	var said bytes.Buffer
	err := c.engine.pool.Client.Logs(docker.LogsOptions{
		Container: c.id, OutputStream: &said, ErrorStream: &said, Stdout: true, Stderr: true, Tail: "20",
	})
	if err != nil {
		fmt.Fprint(&said, err)
	}
	return said.String()
}

// remove ends a container as SIGKILL does and deletes it with its volumes. One that is not there is no error.
func (e *engine) remove(container string) error {
	err := e.pool.Client.RemoveContainer(docker.RemoveContainerOptions{ID: container, Force: true, RemoveVolumes: true})
	if _, none := errors.AsType[*docker.NoSuchContainer](err); none {
		return nil
	}
	return err
}

// sweep removes the containers of harnesses of this machine that are no more: the engine does not end them when the
// harness is killed.
func (e *engine) sweep() error {
	all, err := e.containers()
	for _, c := range all {
		owner := c.Labels[harnessLabel]
		pid, bad := strconv.Atoi(owner[strings.LastIndexByte(owner, '/')+1:])
		if bad == nil && owner == harness(pid) && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			err = errors.Join(err, e.remove(c.ID))
		}
	}
	return err
}

// containers lists what any harness has started, whatever its state.
func (e *engine) containers() ([]docker.APIContainers, error) {
	return e.pool.Client.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {harnessLabel}},
	})
}
