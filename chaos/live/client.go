package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// client is the harness' end of a client process. It implements [chaos.Client].
type client struct {
	ctx     context.Context // of the run
	name    string
	child   *child
	stdin   io.WriteCloser
	replies chan reply
	errors  *bytes.Buffer // its standard error; to be read when it is gone
	proxies map[string]*Proxy
	stopped bool
	midway  bool // an acquire waits at a point
}

// answerTimeout bounds every step of a client that runs, beyond the patience that it was given.
const answerTimeout = 20 * time.Second

// startClient starts this program once more, as a client that reaches each master through a proxy of its own.
func startClient(ctx context.Context, s setup, masters []Node) (_ *client, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start client %s: %w", s.Name, err)
	}
	c := &client{ctx: ctx, name: s.Name, replies: make(chan reply), errors: new(bytes.Buffer), proxies: map[string]*Proxy{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start client %s: %w", s.Name, err), c.close())
		}
	}()
	for _, n := range masters {
		p, err := NewProxy(n.Addr())
		if err != nil {
			return nil, err
		}
		c.proxies[n.Name()] = p
		s.Masters = append(s.Masters, n.URL(p.Addr()))
	}

	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), clientEnv+"=1")
	cmd.Stderr = c.errors
	c.stdin, err = cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.child, err = startChild(cmd)
	if err != nil {
		return nil, err
	}
	go c.listen(stdout)
	return c, json.NewEncoder(c.stdin).Encode(s)
}

// listen passes replies on until the process closes its end.
func (c *client) listen(stdout io.Reader) {
	decoder := json.NewDecoder(stdout)
	for {
		var r reply
		if decoder.Decode(&r) != nil {
			return
		}
		select {
		case c.replies <- r:
		case <-c.child.gone:
			return
		}
	}
}

// ask sends a request and waits for its reply.
func (c *client) ask(r request) (reply, error) {
	if err := c.tell(r); err != nil {
		return reply{}, err
	}
	return c.hear(r)
}

func (c *client) tell(r request) error {
	if err := json.NewEncoder(c.stdin).Encode(r); err != nil {
		return fmt.Errorf("client %s: %s: %w%s", c.name, r.Do, err, c.lastWords())
	}
	return nil
}

func (c *client) hear(r request) (reply, error) {
	ctx, cancel := context.WithTimeout(c.ctx, r.Patience+answerTimeout)
	defer cancel()
	select {
	case got := <-c.replies:
		switch {
		case got.Stale:
			return got, fmt.Errorf("client %s: %s: %w", c.name, r.Do, chaos.ErrStale)
		case got.Err != "":
			return got, fmt.Errorf("client %s: %s: %s", c.name, r.Do, got.Err)
		}
		return got, nil
	case <-c.child.gone:
		return reply{}, fmt.Errorf("client %s has ended by itself during %s: %v%s", c.name, r.Do, c.child.exit, c.lastWords())
	case <-ctx.Done():
		return reply{}, fmt.Errorf("client %s: %s: no answer: %w", c.name, r.Do, context.Cause(ctx))
	}
}

// lastWords is what a client that has ended wrote to its standard error.
func (c *client) lastWords() string {
	if !c.child.ended() || c.errors.Len() == 0 {
		return ""
	}
	return ": " + strings.TrimSpace(c.errors.String())
}

func (c *client) Acquire(patience time.Duration, at chaos.Point) (*chaos.Grant, error) {
	got, err := c.ask(request{Do: doAcquire, Patience: patience, At: at})
	if err != nil || got.Grant != nil {
		return got.Grant, err
	}
	c.midway = true
	return nil, c.Stop()
}

func (c *client) Check() (time.Duration, error) {
	got, err := c.ask(request{Do: doCheck})
	return got.Remaining, err
}

func (c *client) Read() (int, error) {
	got, err := c.ask(request{Do: doRead})
	return got.Value, err
}

func (c *client) Write(value int) error {
	_, err := c.ask(request{Do: doWrite, Value: value})
	return err
}

func (c *client) Release() error {
	_, err := c.ask(request{Do: doRelease})
	return err
}

func (c *client) ShiftClock(d time.Duration) error {
	_, err := c.ask(request{Do: doShiftClock, Shift: d})
	return err
}

func (c *client) PinClock(wall time.Time) error {
	_, err := c.ask(request{Do: doPinClock, Wall: wall})
	return err
}

func (c *client) Stop() error {
	if err := c.child.stop(c.ctx); err != nil {
		return fmt.Errorf("stop client %s: %w", c.name, err)
	}
	c.stopped = true
	return nil
}

func (c *client) Continue() (*chaos.Grant, error) {
	if err := c.child.signal(syscall.SIGCONT); err != nil {
		return nil, fmt.Errorf("continue client %s: %w", c.name, err)
	}
	c.stopped = false
	if !c.midway {
		return nil, nil
	}
	c.midway = false
	got, err := c.ask(request{Do: doGoOn})
	return got.Grant, err
}

// CutOff proves itself: a PING by the client's way must find no answer.
func (c *client) CutOff(masters ...string) (string, error) {
	const silence = 100 * time.Millisecond
	for _, m := range masters {
		p, ok := c.proxies[m]
		if !ok {
			return "", fmt.Errorf("client %s has no master %s", c.name, m)
		}
		p.Cut()
	}
	answers := make(chan error, len(masters))
	for _, m := range masters {
		go func() {
			ctx, cancel := context.WithTimeout(c.ctx, silence)
			defer cancel()
			_, err := askNode(ctx, c.proxies[m].Addr(), "PING")
			answers <- err
		}()
	}
	for range masters {
		// Silence is the proof; any other error has some other reason.
		if err := <-answers; !errors.Is(err, context.DeadlineExceeded) || c.ctx.Err() != nil {
			return "", fmt.Errorf("%w: client %s was to be cut off from a master, whose answer is: %v", ErrNoEffect, c.name, err)
		}
	}
	return fmt.Sprintf("PING finds no answer within %v", silence), nil
}

// heal undoes what the scenario did to the client.
func (c *client) heal() error {
	for _, p := range c.proxies {
		p.Heal()
	}
	if !c.stopped {
		return nil
	}
	_, err := c.Continue()
	return err
}

// close ends the process and its proxies.
func (c *client) close() error {
	var err error
	if c.child != nil {
		err = c.child.kill(context.WithoutCancel(c.ctx))
	}
	for _, p := range c.proxies {
		err = errors.Join(err, p.Close())
	}
	return err
}
