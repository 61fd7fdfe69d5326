package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A span is something that lasts, from the event in which it began to the one in which it ended.
type span struct {
	actor, kind, text string
	from, to          int
	open              bool // it had not ended when the story did
}

// leaseOver is an event that is made here: nobody sees a lease end.
const leaseOver chaos.Kind = "lease over"

// withLeaseEnds adds the end of each lease that a client outstays.
func withLeaseEnds(h chaos.History) chaos.History {
	events := slices.Clone(h)
	for i, e := range h {
		if e.Kind != chaos.Acquired || e.Until <= e.At {
			continue
		}
		over := chaos.Event{At: e.Until, Actor: e.Actor, Kind: leaseOver, Text: "is past the end of the lease that it was granted"}
		for _, later := range h[i+1:] {
			if later.At > e.Until {
				events = append(events, over)
				break
			}
			if later.Actor == e.Actor && (comesIn(later) || goesOut(later)) {
				break
			}
		}
	}
	slices.SortStableFunc(events, func(a, b chaos.Event) int { return cmp.Compare(a.At, b.At) })
	return events
}

func comesIn(e chaos.Event) bool { return e.Kind == chaos.Acquired }
func goesOut(e chaos.Event) bool { return e.Kind == chaos.Left || e.Kind == chaos.Died }

// staySpans are the times that clients are inside: with the lease that they were granted, and past its end.
func staySpans(events chaos.History) (spans []span) {
	for i, e := range events {
		if !comesIn(e) {
			continue
		}
		s := span{actor: e.Actor, kind: "lease", from: i, to: len(events) - 1, open: true}
		for j, later := range events[i+1:] {
			if later.Actor != e.Actor {
				continue
			}
			j += i + 1
			if later.Kind == leaseOver && s.kind == "lease" {
				s.to, s.open = j, false
				spans = append(spans, s)
				s = span{actor: e.Actor, kind: "past", from: j, to: len(events) - 1, open: true}
			}
			if comesIn(later) || goesOut(later) {
				s.to, s.open = j, false
				break
			}
		}
		spans = append(spans, s)
	}
	return spans
}

// faultSpans are the times that faults last. Where nobody recorded the end it follows from the kind: who is stopped is
// so until it next does something; packets and memory are lost in a moment; the rest lasts.
func faultSpans(events chaos.History) (spans []span) {
	for i, e := range events {
		if e.Kind != chaos.Began && e.Kind != chaos.Died {
			continue
		}
		kind, short := faultOf(e)
		s := span{actor: e.Actor, kind: kind, text: short, from: i, to: len(events) - 1, open: true}
		end := slices.IndexFunc(events[i+1:], func(later chaos.Event) bool {
			other, _ := faultOf(later)
			return later.Actor == e.Actor && later.Kind == chaos.Ended && other == kind
		})
		if end < 0 && kind == "pause" {
			end = slices.IndexFunc(events[i+1:], func(later chaos.Event) bool { return later.Actor == e.Actor && later.Kind != leaseOver })
		}
		switch passing := kind == "memory" || kind == "packet" || kind == "other" || strings.Contains(e.Text, "started again"); {
		case end >= 0:
			s.to, s.open = i+1+end, false
		case passing:
			s.to, s.open = i, false
		}
		spans = append(spans, s)
	}
	return spans
}
