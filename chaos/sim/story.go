package sim

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
)

// Story is the history of a run, without what a reader can do without.
func Story(h chaos.History) chaos.History {
	var story chaos.History
	for _, e := range h {
		switch last := len(story) - 1; {
		case e.Kind == chaos.Asked, e.Kind == chaos.Left:
		case last >= 0 && isCut(e) && isCut(story[last]) && e.Actor == story[last].Actor:
			story[last].Text += strings.TrimPrefix(e.Text, cutOff) // one cut more of the same client: "A C"
		default:
			story = append(story, e)
		}
	}
	return story
}

const cutOff = "is cut off from"

func isCut(e chaos.Event) bool { return e.Kind == chaos.Began && strings.HasPrefix(e.Text, cutOff) }

// Tell plays a plan and writes its story: the steps, numbered, and what came of them.
func Tell(w io.Writer, scheme chaos.Scheme, plan Plan) error {
	o := Run(scheme, plan, nil)
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, guard %s, workload %s: %s\n", plan.Scheme, plan.Fault, plan.Guard, plan.Workload, plan.Workload.Means())
	for i, e := range Story(o.History) {
		fmt.Fprintf(&b, "%3d %v\n", i+1, e)
	}
	fmt.Fprintf(&b, "=> %s\n", says(o, plan))
	_, err := io.WriteString(w, b.String())
	return err
}

// says is a verdict in words: what there was none of is left out.
func says(o Outcome, plan Plan) string {
	v := o.Verdict
	words := []string{string(v.Outcome)}
	for _, count := range []struct {
		n    int
		what string
	}{
		{v.Overlaps, "inside twice"},
		{v.LostUpdates, "updates lost"},
		{v.StaleWrites, "stale writes accepted"},
		{v.Refusals, "operations refused"},
		{v.Deadlocks, "gave up waiting"},
		{v.Lingering, "times kept out for longer than a lease by the dead"},
		{v.Overdue, "times told of a lock past its validity"},
		{v.TokenFaults, "tokens not unique or out of order"},
	} {
		if count.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	serial := "one after the other, as far as the resource can tell"
	if !check.Serial(o.History, plan.Workload.Initial(items)) {
		serial = "the sections were not carried out one after the other"
	}
	if slices.ContainsFunc(o.History, func(e chaos.Event) bool { return e.Kind == chaos.Wrote }) {
		words = append(words, serial)
	}
	return strings.Join(words, ", ")
}
