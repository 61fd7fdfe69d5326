package check

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Idle returns the longest time, by the observer's clock, for which somebody wanted the lock and nobody had it, before
// it was granted or somebody gave up. A holder that crashes has it no more, so after a crash this is how long its lease
// kept the others out. A client that crashes while it asks counts as wanting the lock ever after.
func Idle(h chaos.History) time.Duration {
	var longest, since time.Duration
	idle := false
	inside, wanting := map[string]bool{}, map[string]bool{}
	for _, e := range h {
		switch e.Kind {
		case chaos.Asked:
			wanting[e.Actor] = true
		case chaos.Acquired:
			inside[e.Actor] = true
			delete(wanting, e.Actor)
		case chaos.Denied, chaos.GaveUp:
			delete(wanting, e.Actor)
		case chaos.Left:
			delete(inside, e.Actor)
		default:
			continue
		}
		if idle && (e.Kind == chaos.Acquired || e.Kind == chaos.GaveUp) {
			longest = max(longest, e.At-since)
		}
		if now := len(inside) == 0 && len(wanting) > 0; now != idle {
			idle, since = now, e.At
		}
	}
	return longest
}
