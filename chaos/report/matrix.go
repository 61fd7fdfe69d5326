package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A grid is the cells of one world, as a matrix: a row for each fault or scenario, a column for each scheme, and in it
// one cell for each guard. All are in the order of the results, the guards from the weakest.
type grid struct {
	world   string
	faults  []string
	schemes []string
	guards  []chaos.Guard
	cells   map[gridKey]Cell
}

type gridKey struct {
	fault, scheme string
	guard         chaos.Guard
}

// grid returns the matrix of one world, live or sim.
func (r Results) grid(world string) grid {
	g := grid{world: world, cells: map[gridKey]Cell{}}
	for _, c := range r.Cells {
		if c.World != world {
			continue
		}
		g.faults = appendNew(g.faults, c.Fault)
		g.schemes = appendNew(g.schemes, c.Scheme)
		g.guards = appendNew(g.guards, c.Guard)
		g.cells[gridKey{c.Fault, c.Scheme, c.Guard}] = c
	}
	// Guards come in the order of chaos.Guards; those that only one scenario has are behind.
	rank := func(guard chaos.Guard) int {
		if i := slices.Index(chaos.Guards(), guard); i >= 0 {
			return i
		}
		return len(chaos.Guards())
	}
	slices.SortStableFunc(g.guards, func(a, b chaos.Guard) int { return rank(a) - rank(b) })
	return g
}

func appendNew[T comparable](all []T, one T) []T {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// at returns the cells of a fault and a scheme, one for each guard that was tried.
func (g grid) at(fault, scheme string) []Cell {
	var cells []Cell
	for _, guard := range g.guards {
		if c, ok := g.cells[gridKey{fault, scheme, guard}]; ok {
			cells = append(cells, c)
		}
	}
	return cells
}

// letters says in one letter a guard what a fault makes of a scheme. A guard that was not tried is a blank, so that each
// letter stands in its place.
func (g grid) letters(fault, scheme string) string {
	var b strings.Builder
	for _, guard := range g.guards {
		if c, ok := g.cells[gridKey{fault, scheme, guard}]; ok {
			b.WriteString(c.letter())
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimRight(b.String(), " ")
}

var letters = map[chaos.Outcome]string{chaos.Holds: ".", chaos.Breaks: "B", chaos.Unreached: "?"}

// letter is the verdict, with a mark if it was not expected.
func (c Cell) letter() string {
	if c.AsExpected() {
		return letters[c.Verdict]
	}
	return letters[c.Verdict] + "!"
}

// legend explains the letters.
func (g grid) legend() string {
	var names []string
	for _, guard := range g.guards {
		names = append(names, string(guard))
	}
	return fmt.Sprintf("One letter for each guard (%s): B breaks, . holds, ? not reached; ! was not expected.", strings.Join(names, ", "))
}

// says is a cell in a few words.
func (c Cell) says() string {
	text := string(c.Verdict)
	if counts := c.counts(); c.Verdict != chaos.Unreached && counts != "" {
		text += " (" + counts + ")"
	}
	if !c.AsExpected() {
		text += " EXPECTED " + string(c.Expected)
	}
	return text
}

// counts names what there was of damage and refusals.
func (c Cell) counts() string {
	var counts []string
	for _, count := range []struct {
		n    int
		what string
	}{{c.Overlaps, "inside twice"}, {c.Corruptions, "damaged"}, {c.Refusals, "refused"}} {
		if count.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	return strings.Join(counts, ", ")
}

// In returns the results of one world, live or sim.
func (r Results) In(world string) Results {
	part := r
	part.Cells = nil
	for _, c := range r.Cells {
		if c.World == world {
			part.Cells = append(part.Cells, c)
		}
	}
	return part
}

// runs is how often the cells were played.
func (r Results) runs() (n int) {
	for _, c := range r.Cells {
		n += c.Runs
	}
	return n
}
