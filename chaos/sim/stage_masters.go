package sim

import (
	"fmt"
	"time"
)

// The faults of masters, as scenarios have them: each proves that it took effect.

func (s *scene) StepClock(master string, d time.Duration) (string, error) {
	n, err := s.node(master)
	if err != nil {
		return "", err
	}
	before := n.wall(s.Now())
	n.offset += d
	const clockTime = "15:04:05.000"
	return fmt.Sprintf("TIME %s, then %s", before.Format(clockTime), n.wall(s.Now()).Format(clockTime)), nil
}

func (s *scene) Kill(master string) (string, error) {
	n, err := s.node(master)
	switch {
	case err != nil:
		return "", err
	case n.down:
		return "", fmt.Errorf("%w: it is down already", errNoEffect)
	}
	n.down = true
	n.boots++
	return fmt.Sprintf("it had %d keys", len(n.data)), nil
}

func (s *scene) Start(master string) (string, error) {
	n, err := s.node(master)
	switch {
	case err != nil:
		return "", err
	case !n.down:
		return "", fmt.Errorf("%w: it is not down", errNoEffect)
	}
	n.down = false
	if !s.scenario.Durable && !s.scenario.Everysec {
		n.empty()
	}
	return fmt.Sprintf("it has %d keys", len(n.data)), nil
}

func (s *scene) PowerLoss(master string) (string, error) {
	return s.loses(master, func(n *node) {
		switch {
		case s.scenario.Durable:
		case s.scenario.Everysec:
			n.forget(s.Now() - time.Second)
		default:
			n.empty()
		}
	})
}

func (s *scene) Lag(master string) (string, error) {
	n, err := s.node(master)
	if err == nil {
		lag := &s.lags[n.name[0]-'A']
		lag.since, lag.on = s.Now(), true
	}
	return "", err
}

func (s *scene) Failover(master string) (string, error) {
	return s.loses(master, func(n *node) {
		if lag := s.lags[n.name[0]-'A']; lag.on {
			n.forget(lag.since)
		}
	})
}

// loses has a master come back with less than it had.
func (s *scene) loses(master string, forget func(*node)) (string, error) {
	n, err := s.node(master)
	if err != nil {
		return "", err
	}
	before := len(n.data)
	n.boots++
	forget(n)
	if len(n.data) == before {
		return "", fmt.Errorf("%w: it had %d keys and still has", errNoEffect, before)
	}
	return fmt.Sprintf("it had %d keys and has %d", before, len(n.data)), nil
}

func (n *node) empty() {
	clear(n.data)
	n.journal = n.journal[:0]
}

func (s *scene) Hang(master string) (string, error) {
	n, err := s.node(master)
	if err == nil {
		s.world.kernel.stop(&n.host)
	}
	return "", err
}

func (s *scene) Resume(master string) error {
	n, err := s.node(master)
	switch {
	case err != nil:
		return err
	case n.host.paused == 0:
		return fmt.Errorf("%w: master %s does not hang", errNoEffect, master)
	}
	s.world.kernel.goOn(&n.host)
	return nil
}

func (s *scene) Evict(master string) (string, error) {
	n, err := s.node(master)
	if err != nil {
		return "", err
	}
	if _, held := n.get(lockName, n.wall(s.Now())); !held {
		return "", fmt.Errorf("%w: it does not have the lock's key", errNoEffect)
	}
	before := len(n.data)
	for key, e := range n.data {
		if e.expires != 0 {
			delete(n.data, key)
		}
	}
	return fmt.Sprintf("it had %d keys and has %d", before, len(n.data)), nil
}
