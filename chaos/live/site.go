package live

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// site is where a node is, and how to speak to it: what all kinds have alike.
type site struct {
	name, addr string
	login      [][]string    // commands that come first on a connection; nil for nodes of our own
	user       *url.Userinfo // likewise
	path       string        // likewise: "/" and a database
}

func (s *site) Name() string { return s.name }
func (s *site) Addr() string { return s.addr }

func (s *site) URL(addr string) string {
	u := url.URL{Scheme: "redis", User: s.user, Host: addr, Path: s.path}
	return u.String()
}

func (s *site) ask(ctx context.Context, command ...string) (answer, error) {
	return askAs(ctx, s.addr, s.login, command...)
}

func (s *site) Ask(ctx context.Context, command ...string) ([]string, error) {
	a, err := s.ask(ctx, command...)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", s.name, err)
	}
	return a.text, nil
}

func (s *site) Time(ctx context.Context) (time.Time, error) {
	t, err := readTime(ctx, s.ask)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of node %s: %w", s.name, err)
	}
	return t.wall, nil
}

// number asks for a number.
func (s *site) number(ctx context.Context, command ...string) (int, error) {
	text, err := s.Ask(ctx, command...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.Join(text, " "))
	if err != nil {
		return 0, fmt.Errorf("node %s: %s: %w", s.name, command[0], err)
	}
	return n, nil
}

// setting asks for what CONFIG says of a setting.
func (s *site) setting(ctx context.Context, name string) (string, error) {
	text, err := s.Ask(ctx, "CONFIG", "GET", name)
	if err != nil {
		return "", err
	}
	if len(text) != 2 {
		return "", fmt.Errorf("node %s: CONFIG GET %s: unexpected reply %q", s.name, name, text)
	}
	return text[1], nil
}

// info asks for one line of INFO. What it does not say is "".
func (s *site) info(ctx context.Context, section, field string) (string, error) {
	text, err := s.Ask(ctx, "INFO", section)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(strings.Join(text, "\n")) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", nil
}

// infoNumber asks for a line of INFO that is a number.
func (s *site) infoNumber(ctx context.Context, section, field string) (int, error) {
	text, err := s.info(ctx, section, field)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("node %s: INFO %s: %s: %w", s.name, section, field, err)
	}
	return n, nil
}

// step proves a step of the node's clock that move makes.
func (s *site) step(ctx context.Context, d time.Duration, move func(time.Duration) error) (Proof, error) {
	p, err := proveStep(ctx, s.ask, d, move)
	if err != nil {
		return p, fmt.Errorf("step the clock of node %s: %w", s.name, err)
	}
	return p, nil
}

// proveSilence proves that a node hangs.
func (s *site) proveSilence(ctx context.Context) (string, error) {
	const silence = 50 * time.Millisecond
	short, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	// Silence is the proof; any other error has some other reason.
	_, err := s.ask(short, "PING")
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return "", fmt.Errorf("pause node %s: %w: PING is answered with: %v", s.name, ErrNoEffect, err)
	}
	return fmt.Sprintf("PING finds no answer within %v", silence), nil
}

// flush deletes all keys and proves it.
func (s *site) flush(ctx context.Context) (string, error) {
	before, err := s.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	if before == 0 {
		return "", fmt.Errorf("flush node %s: %w: it had no keys", s.name, ErrNoEffect)
	}
	if _, err := s.Ask(ctx, "FLUSHALL"); err != nil {
		return "", err
	}
	after, err := s.number(ctx, "DBSIZE")
	if err != nil {
		return "", err
	}
	if after != 0 {
		return "", fmt.Errorf("flush node %s: %w: it still has %d keys", s.name, ErrNoEffect, after)
	}
	return fmt.Sprintf("FLUSHALL: DBSIZE %d -> 0", before), nil
}

// empty deletes all keys and scripts, and proves that nothing is there.
func (s *site) empty(ctx context.Context) error {
	for _, command := range [][]string{{"FLUSHALL"}, {"SCRIPT", "FLUSH"}} {
		if _, err := s.Ask(ctx, command...); err != nil {
			return err
		}
	}
	if n, err := s.number(ctx, "DBSIZE"); err != nil || n != 0 {
		return errors.Join(err, fmt.Errorf("node %s: %d keys are there after FLUSHALL", s.name, n))
	}
	return nil
}

// onTime proves that the node's clock is the harness's.
func (s *site) onTime(ctx context.Context) error {
	t, err := sharpTime(ctx, s.ask)
	if err != nil {
		return err
	}
	if off := t.wall.Sub(t.middle()); off.Abs() > t.roundTrip()/2+stepSlack {
		return fmt.Errorf("node %s: its clock is off by %v", s.name, off)
	}
	return nil
}
