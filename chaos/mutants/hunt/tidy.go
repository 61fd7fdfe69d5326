package main

import (
	"context"

	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// tidying says when a key that is still there after its release, or after its attempt failed, is a violation.
type tidying int

const (
	anyKey   tidying = iota // never: faults may have kept the release from the master, or the acquire until after it
	noReturn                // if the master had confirmed the release, and nothing was under way that may set the key
	noKey                   // always, once the release had time to be repeated
)

const (
	tidyAfter = sim.TTL / 2 // a release that was lost has been repeated by then, and the key has not expired yet
	tidyLooks = 8
)

// lookLater looks, a number of times, for what is left of a grant that was given up.
func (w *watch) lookLater(g *grant, looks int) {
	w.env.Clock.AfterFunc(tidyAfter, func() {
		for node := range masterCount {
			w.lookAt(node, g)
		}
		if looks > 1 {
			w.lookLater(g, looks-1)
		}
	})
}

func (w *watch) lookAt(node int, g *grant) {
	value, ok, err := w.env.Plain.Do(context.Background(), node, "GET", g.name)
	switch {
	case err != nil || !ok || value != g.Value:
	case w.trial.search.tidy == noKey:
		w.trial.violated(tidiness, "master %c keeps the key of a grant that was given up %v ago", 'A'+node, tidyAfter)
	case g.released[node] && g.open[node] == 0:
		w.trial.violated(tidiness, "a key has come back to master %c after its release", 'A'+node)
	}
}
