package live

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// drift makes the node's clock run at a rate, by set, which returns the rate that it had, and proves it. When the proof
// fails the old rate is set again.
func (s *site) drift(ctx context.Context, rate float64, set func(rate float64) (was float64, err error)) (string, error) {
	const fastest = 10
	if !(rate > 0 && rate <= fastest) {
		return "", fmt.Errorf("let the clock of node %s run at rate %v: above 0, up to %d is possible", s.name, rate, fastest)
	}
	was, err := set(rate)
	if err != nil {
		return "", fmt.Errorf("let the clock of node %s run at rate %v: %w", s.name, rate, err)
	}
	proof, err := proveDrift(ctx, s.ask, was, rate)
	if err != nil {
		_, undone := set(was)
		return "", errors.Join(fmt.Errorf("let the clock of node %s run at rate %v: %w", s.name, rate, err), undone)
	}
	return proof, nil
}

// proveDrift reads a clock twice, so far apart that its rate can be told from the one that it had.
func proveDrift(ctx context.Context, ask asker, was, rate float64) (string, error) {
	const (
		clear   = 20 * time.Millisecond // what the two rates must differ by in the end
		longest = 10 * time.Second
	)
	change := max(rate-was, was-rate)
	wait := time.Duration(float64(clear) / max(change, 1e-9))
	if wait > longest {
		return "", unsupported("a change from %v is too small to be proved", was)
	}
	before, err := sharpTime(ctx, ask)
	if err != nil {
		return "", err
	}
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		after, err := sharpTime(ctx, ask)
		if err != nil {
			return "", err
		}
		passed := after.middle().Sub(before.middle())
		got := after.wall.Sub(before.wall)
		// A wall clock that is slewed, at most by 500 ppm, is lost in what half a round trip can be off.
		blur := (before.roundTrip()+after.roundTrip())/2 + time.Millisecond
		apart := time.Duration(change * float64(passed))
		switch off := (got - time.Duration(rate*float64(passed))).Abs(); {
		case apart <= 2*blur && passed < longest:
			wait = passed // TIME was slow to answer
		case off > blur || apart <= 2*blur:
			return "", fmt.Errorf("%w: in %v the clock went on by %v", ErrNoEffect, passed, got)
		default:
			return fmt.Sprintf("TIME went on by %v in %v (rate %.4f)", got.Round(time.Millisecond/10), passed.Round(time.Millisecond/10),
				got.Seconds()/passed.Seconds()), nil
		}
	}
}
