package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// askTimeout bounds one question to a node whose caller's context has a later end or none.
const askTimeout = 5 * time.Second

// answer is what a node said to one command, and when the harness asked and heard.
type answer struct {
	text        []string // the reply, an array's elements one by one
	asked, came time.Time
}

// asker sends one command to one node.
type asker func(ctx context.Context, command ...string) (answer, error)

// askNode sends one command over a connection of its own. The harness watches nodes come and go, so it wants no pool, no
// retries and no log: a refused connection is an ordinary answer here.
func askNode(ctx context.Context, addr string, command ...string) (answer, error) {
	return askAs(ctx, addr, nil, command...)
}

// askAs sends one command after those of a login, all of which must succeed.
func askAs(ctx context.Context, addr string, login [][]string, command ...string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	a, err := askOnce(ctx, addr, append(slices.Clip(login), command))
	if dial, ok := errors.AsType[net.Error](err); ok && dial.Timeout() {
		<-ctx.Done() // its time is up, a moment before it says so
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // says more than the i/o timeout of the closed connection
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s at %s: %w", strings.Join(command, " "), addr, err)
	}
	return a, nil
}

func askOnce(ctx context.Context, addr string, commands [][]string) (answer, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	var a answer
	replies := bufio.NewReader(conn)
	for _, command := range commands {
		a.asked = time.Now()
		if _, err := io.WriteString(conn, encode(command...)); err != nil {
			return answer{}, err
		}
		if a.text, err = readReply(replies); err != nil {
			return answer{}, err
		}
		a.came = time.Now()
	}
	return a, nil
}

// encode is a command as Redis reads it: an array of strings.
func encode(command ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b.String()
}

// maxReply bounds what a reply may claim to be long, in bytes or in elements: whatever listens at a node's address need
// not be Redis.
const maxReply = 1 << 20

// readReply reads one reply of the protocol that Redis calls RESP2, its arrays no deeper than one level.
func readReply(r *bufio.Reader) ([]string, error) {
	kind, rest, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if kind != '*' {
		s, err := readBody(r, kind, rest)
		return []string{s}, err
	}
	n, err := readLength(rest)
	if err != nil {
		return nil, err
	}
	var all []string
	for range n {
		kind, rest, err := readHeader(r)
		if err != nil {
			return nil, err
		}
		s, err := readBody(r, kind, rest)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func readHeader(r *bufio.Reader) (kind byte, rest string, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return 0, "", errors.New("not a Redis reply: an empty line")
	}
	return line[0], line[1:], nil
}

func readBody(r *bufio.Reader, kind byte, rest string) (string, error) {
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New(rest)
	case '$':
		n, err := readLength(rest)
		if err != nil {
			return "", err
		}
		body := make([]byte, n+len("\r\n"))
		if _, err := io.ReadFull(r, body); err != nil {
			return "", err
		}
		return string(body[:n]), nil
	}
	return "", fmt.Errorf("not a Redis reply: it starts with %q", kind)
}

func readLength(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxReply {
		return 0, fmt.Errorf("not a Redis reply: length %q", s)
	}
	return n, nil
}

// nodeTime is a node's wall clock and the moments between which it was read.
type nodeTime struct {
	wall        time.Time
	asked, came time.Time
}

// readTime asks for Redis TIME: seconds and microseconds.
func readTime(ctx context.Context, ask asker) (nodeTime, error) {
	a, err := ask(ctx, "TIME")
	if err != nil {
		return nodeTime{}, err
	}
	var sec, usec int64
	if len(a.text) == 2 {
		sec, err = strconv.ParseInt(a.text[0], 10, 64)
		if err == nil {
			usec, err = strconv.ParseInt(a.text[1], 10, 64)
		}
	}
	if len(a.text) != 2 || err != nil {
		return nodeTime{}, fmt.Errorf("TIME: unexpected reply %q", a.text)
	}
	return nodeTime{wall: time.Unix(sec, usec*1000), asked: a.asked, came: a.came}, nil
}

// awaitPing returns when the node at addr answers PING. It gives up when ctx ends or gone is closed.
func awaitPing(ctx context.Context, addr string, gone <-chan struct{}) error {
	const every = 2 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()

	// Somebody else may have the address and never answer.
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-gone:
			cancel()
		case <-asking.Done():
		}
	}()
	for {
		_, err := askNode(asking, addr, "PING")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		case <-asking.Done():
			return err
		case <-tick.C:
		}
	}
}
