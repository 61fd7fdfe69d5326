package check

import (
	"github.com/anishathalye/porcupine"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Serial reports whether the sections of a history could have been carried out one after the other, each at one moment
// between its read and its write: whether the register's history is linearizable, if a section is one operation that
// reads a value and leaves another (Herlihy and Wing 1990; found out by porcupine). A section that wrote nothing, or was
// refused, is a read.
//
// The counts of a [Verdict] look at one write at a time, and believe the resource's versions. This looks at the values
// alone, of the whole run at once: it needs no version, so it also judges a resource that keeps none, and it catches a
// resource whose versions are wrong.
func Serial(h chaos.History, initial int) bool {
	model := porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s := input.(section)
			return state == s.found, s.left
		},
	}
	return porcupine.CheckOperations(model, sections(h))
}

// section is what one client made of the resource: what it found there, and what it left.
type section struct{ found, left int }

// sections returns the sections of a history, in the order of its events, which are what time there is.
func sections(h chaos.History) []porcupine.Operation {
	type open struct{ at, value int }
	var done []porcupine.Operation
	under := map[string]open{}
	end := func(actor string, at, left int) {
		if o, ok := under[actor]; ok {
			done = append(done, porcupine.Operation{Input: section{o.value, left}, Call: int64(o.at), Return: int64(at)})
		}
	}
	for i, e := range h {
		switch e.Kind {
		case chaos.Read:
			if o, ok := under[e.Actor]; ok {
				end(e.Actor, o.at, o.value)
			}
			under[e.Actor] = open{i, e.Value}
		case chaos.Wrote:
			end(e.Actor, i, e.Value)
			under[e.Actor] = open{i, e.Value} // a writer knows what is there
		}
	}
	for actor, o := range under {
		end(actor, o.at, o.value)
	}
	return done
}
