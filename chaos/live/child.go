//go:build unix

package live

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a process that the harness started. It is in a process group of its own, so that Ctrl-C reaches the harness
// alone, which then ends its children in its own order. On Linux the child also dies when the harness does, however
// that ends.
type child struct {
	pid  int
	gone chan struct{} // closed when the process has ended and was waited for
	exit error         // what waiting for it said; to be read when gone is closed
}

// startChild starts cmd, whose SysProcAttr it sets.
func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = childAttr()
	c := &child{gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread that started the child ends, not the process
		// (golang/go #27505). So that thread stays with this goroutine, and this goroutine with the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		c.exit = cmd.Wait()
		close(c.gone)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *child) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// signal sends sig to the child and to what it has forked.
func (c *child) signal(sig syscall.Signal) error {
	if c.ended() {
		return fmt.Errorf("process %d has ended: %v", c.pid, c.exit)
	}
	if err := syscall.Kill(-c.pid, sig); err != nil {
		return fmt.Errorf("send %v to process %d: %w", sig, c.pid, err)
	}
	return nil
}

// killTimeout bounds the wait for a process that was sent SIGKILL, which only the kernel itself can hold up.
const killTimeout = 10 * time.Second

// kill ends the child with SIGKILL and returns when it is gone. A child that has ended already is no error.
func (c *child) kill(ctx context.Context) error {
	if err := c.signal(syscall.SIGKILL); err != nil && !c.ended() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("process %d is still there after SIGKILL: %w", c.pid, ctx.Err())
	}
}

// stop sends SIGSTOP and returns when the child stands still, which the kernel does a moment later.
func (c *child) stop(ctx context.Context) error {
	if err := c.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !standsStill(c.pid) {
		select {
		case <-tick.C:
		case <-c.gone:
			return fmt.Errorf("process %d has ended: %v", c.pid, c.exit)
		case <-ctx.Done():
			return fmt.Errorf("process %d still runs after SIGSTOP: %w", c.pid, ctx.Err())
		}
	}
	return nil
}
