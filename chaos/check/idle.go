package check

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Idle returns the longest time, by the observer's clock, for which somebody wanted the lock and nobody had it, before
// it was granted or somebody gave up. A holder that dies has it no more, so after a death this is how long its lease kept
// the others out.
func Idle(h chaos.History) (longest time.Duration) {
	idle(h, func(d time.Duration, _ bool) { longest = max(longest, d) })
	return longest
}

// lingering counts the times for which that was longer than allowed, after a client had died.
func lingering(h chaos.History, allowed time.Duration) (n int) {
	idle(h, func(d time.Duration, death bool) { n += btoi(death && d > allowed) })
	return n
}

// idle reports each such time, and whether the last holder before it had died.
func idle(h chaos.History, each func(d time.Duration, death bool)) {
	var since time.Duration
	idle, death := false, false
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
		case chaos.Died:
			death = death || inside[e.Actor]
			delete(inside, e.Actor)
			delete(wanting, e.Actor)
		default:
			continue
		}
		if idle && (e.Kind == chaos.Acquired || e.Kind == chaos.GaveUp) {
			each(e.At-since, death)
			death = false
		}
		if now := len(inside) == 0 && len(wanting) > 0; now != idle {
			idle, since = now, e.At
		}
	}
}
