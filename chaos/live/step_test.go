package live

import (
	"testing"
	"time"
)

func TestStepIsProvedByTheNodesClockLessOurs(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	start := time.Now()
	// A reading at a time of the harness, of a clock that is off by so much, with a round trip.
	reading := func(at, off, roundTrip time.Duration) nodeTime {
		asked := start.Add(at)
		return nodeTime{wall: asked.Add(roundTrip/2 + off), asked: asked, came: asked.Add(roundTrip)}
	}
	for name, c := range map[string]struct {
		before, after nodeTime
		d             time.Duration
		proved        bool
	}{
		"forward":                    {reading(0, 0, ms), reading(2*ms, 60*s, ms), 60 * s, true},
		"back":                       {reading(0, 0, ms), reading(2*ms, -60*s, ms), -60 * s, true},
		"from a clock that is off":   {reading(0, 9*s, ms), reading(2*ms, 10*s, ms), s, true},
		"half a second":              {reading(0, 0, ms), reading(2*ms, 500*ms, ms), 500 * ms, true},
		"half, after a long while":   {reading(0, 0, ms), reading(40*s, 500*ms, ms), 500 * ms, true},
		"not at all":                 {reading(0, 0, ms), reading(2*ms, 0, ms), 500 * ms, false},
		"only time has passed":       {reading(0, 0, ms), reading(500*ms, 0, ms), 500 * ms, false},
		"the wrong way":              {reading(0, 0, ms), reading(2*ms, 60*s, ms), -60 * s, false},
		"not far enough":             {reading(0, 0, ms), reading(2*ms, 50*s, ms), 60 * s, false},
		"too far":                    {reading(0, 0, ms), reading(2*ms, 70*s, ms), 60 * s, false},
		"lost in slow answers":       {reading(0, 0, 2*s), reading(2*s, 500*ms, 2*s), 500 * ms, false},
		"not at all, slow answers":   {reading(0, 0, 2*s), reading(2*s, 0, 2*s), 500 * ms, false},
		"large against slow answers": {reading(0, 0, 2*s), reading(2*s, 60*s, 2*s), 60 * s, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := judgeStep(c.before, c.after, c.d)
			if c.proved {
				must(t, err)
				return
			}
			mustBe(t, err, ErrNoEffect)
			t.Log(p, err)
		})
	}
}
