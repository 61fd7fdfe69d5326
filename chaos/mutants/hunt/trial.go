package main

import (
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

var properties = []string{exclusion, validity, endurance, tokens, damage, refusals, progress, tidiness}

const (
	exclusion = "exclusion"
	validity  = "validity"
	endurance = "endurance"
	tokens    = "tokens"
	damage    = "damage"
	refusals  = "refusals"
	progress  = "progress"
	tidiness  = "tidiness"
)

// The masters, and how many of them a grant needs; as numbers of its own, since a mutant may be wrong about them.
const (
	masterCount = 5
	majority    = 3
)

// A trial is one schedule: what its clients did so far, and the first violation.
type trial struct {
	search  search
	only    string // the one property to look at; empty: all
	found   *violation
	holds   []*hold       // granted, and not released yet
	largest redlock.Token // granted so far
	granted map[redlock.Token]bool
}

type violation struct{ property, what string }

func (t *trial) violated(property, format string, args ...any) {
	if t.found == nil && (t.only == "" || t.only == property) {
		t.found = &violation{property, fmt.Sprintf(format, args...)}
	}
}

// scheme is redlock's client with the settings of the search, and everything that goes in or out of it watched.
func (t *trial) scheme() chaos.Scheme {
	t.granted = map[redlock.Token]bool{}
	return chaos.Scheme{Name: schemeName, Masters: masterCount, Open: func(env chaos.Env) (chaos.Locker, error) {
		w := &watch{trial: t, env: env}
		opts := []redlock.Option{
			redlock.WithClock(env.Clock), redlock.WithRandom(env.Random), redlock.WithTTL(env.TTL),
		}
		if t.search.standing {
			opts = append(opts, redlock.WithClock(standing{env.Clock}), redlock.WithFenceRetention(0))
		}
		if t.search.timeout > 0 {
			opts = append(opts, redlock.WithNodeTimeout(t.search.timeout))
		}
		if t.search.extend > 0 {
			opts = append(opts, redlock.WithAutoExtend(t.search.extend))
		}
		var err error
		w.client, err = redlock.NewOver(w, opts...)
		return w, err
	}}
}

const schemeName = "redlock"

// standing is a clock whose wall clock stands at the epoch, so that it proposes no tokens: they come from the masters'
// counters alone.
type standing struct{ clock.Clock }

func (s standing) Now() clock.Reading {
	now := s.Clock.Now()
	now.Wall = time.Unix(0, 0)
	return now
}

// judge looks at the history of the trial.
func (t *trial) judge(o sim.Outcome) {
	v := o.Verdict
	if v.Corruptions > 0 {
		t.violated(damage, "%d updates lost, %d stale writes accepted", v.LostUpdates, v.StaleWrites)
	}
	if n := check.WrongRefusals(o.History); n > 0 {
		t.violated(refusals, "%d refusals of a token that nobody had exceeded", n)
	}
	if v.TokenFaults > 0 {
		t.violated(tokens, "%d grants with a token that is not unique or not larger than before", v.TokenFaults)
	}
	if v.Deadlocks > 0 {
		t.violated(progress, "%d clients waited in vain", v.Deadlocks)
	}
	if idle := check.Idle(o.History); t.search.idle > 0 && idle > t.search.idle {
		t.violated(progress, "the lock was wanted and free for %v", idle)
	}
}
