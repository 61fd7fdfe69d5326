package live

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stepSlack is how far a proven step may be off: host clocks are slewed while we look, and TIME counts microseconds.
const stepSlack = 10 * time.Millisecond

// proveStep calls move(d), which is to move the wall clock of a node by d, and reads the clock around it. When
// the proof fails the clock is moved back, so that a fault that is reported as failed is not half there.
//
// What is compared is the node's clock less the harness's monotonic clock, before and after. So the time that passes
// between the two readings does not blur the proof; only the round trips of the readings themselves do.
func proveStep(ctx context.Context, ask asker, d time.Duration, move func(d time.Duration) error) (Proof, error) {
	if d > -2*stepSlack && d < 2*stepSlack {
		return Proof{}, unsupported("a step of %v is too small to be proved, %v is the least", d, 2*stepSlack)
	}
	before, err := sharpTime(ctx, ask)
	if err != nil {
		return Proof{}, err
	}
	if err := move(d); err != nil {
		return Proof{}, err
	}
	after, err := sharpTime(ctx, ask)
	if err != nil {
		err = fmt.Errorf("%w: the clock cannot be read after the step: %w", ErrNoEffect, err)
		return Proof{}, errors.Join(err, move(-d))
	}
	p, err := judgeStep(before, after, d)
	if err != nil {
		return p, errors.Join(err, move(-d))
	}
	return p, nil
}

// judgeStep says whether the clock moved by d between two readings.
func judgeStep(before, after nodeTime, d time.Duration) (Proof, error) {
	passed := after.middle().Sub(before.middle())
	p := Proof{Before: before.wall, After: after.wall, Moved: after.wall.Sub(before.wall) - passed}
	blur := (before.roundTrip()+after.roundTrip())/2 + stepSlack
	off := (p.Moved - d).Abs()
	switch {
	case off > blur:
		return p, fmt.Errorf("%w: the clock was to move by %v and moved by %v", ErrNoEffect, d, p.Moved)
	case d.Abs() <= blur:
		// Not moving at all would have passed as well.
		return p, fmt.Errorf("%w: a step of %v cannot be told from none, TIME took %v and %v to answer",
			ErrNoEffect, d, before.roundTrip(), after.roundTrip())
	}
	return p, nil
}

// sharpTime reads a node's clock until an answer came fast, and settles for the fastest of a few.
func sharpTime(ctx context.Context, ask asker) (nodeTime, error) {
	const tries, fast = 5, 5 * time.Millisecond
	var best nodeTime
	for i := range tries {
		t, err := readTime(ctx, ask)
		if err != nil {
			return nodeTime{}, err
		}
		if i == 0 || t.roundTrip() < best.roundTrip() {
			best = t
		}
		if best.roundTrip() <= fast {
			break
		}
	}
	return best, nil
}

func (t nodeTime) roundTrip() time.Duration { return t.came.Sub(t.asked) }

func (t nodeTime) middle() time.Time { return t.asked.Add(t.roundTrip() / 2) }
