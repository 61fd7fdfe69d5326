package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A tally is how many faults broke a scheme, of those whose runs got to what they are about.
type tally struct{ broke, reached int }

func (t tally) String() string {
	if t.reached == 0 {
		return "not tried"
	}
	return fmt.Sprintf("%d of %d", t.broke, t.reached)
}

// tally counts what became of a scheme under a guard.
func (g grid) tally(scheme string, guard chaos.Guard) (t tally) {
	for _, fault := range g.faults {
		switch c, ok := g.cells[gridKey{fault, scheme, guard}]; {
		case !ok, c.Verdict == chaos.Unreached:
		case c.Verdict == chaos.Breaks:
			t.broke++
			fallthrough
		default:
			t.reached++
		}
	}
	return t
}

// schemes are those of both worlds.
func (r Results) schemes() (names []string) {
	// The search has them all as a rule, in the order in which they are read best.
	for _, world := range []string{"sim", "live"} {
		for _, scheme := range r.grid(world).schemes {
			names = appendNew(names, scheme)
		}
	}
	return names
}

// safetyTable says for each scheme in how many scenarios and under how many kinds of faults it broke, guard by guard,
// and what guard it needs to hold in all of them.
func (r Results) safetyTable() [][]string {
	live, sim := r.grid("live"), r.grid("sim")
	head := []string{"scheme"}
	var guards []chaos.Guard
	for _, guard := range chaos.Guards() {
		if slices.Contains(live.guards, guard) || slices.Contains(sim.guards, guard) {
			guards = append(guards, guard)
			head = append(head, fmt.Sprintf("guard %s: scenarios", guard), "faults")
		}
	}
	table := [][]string{append(head, "held in all with")}
	for _, scheme := range r.schemes() {
		row := []string{scheme}
		holds := "none of them"
		for _, guard := range slices.Backward(guards) {
			l, s := live.tally(scheme, guard), sim.tally(scheme, guard)
			row = slices.Insert(row, 1, l.String(), s.String())
			if l.broke+s.broke == 0 && l.reached+s.reached > 0 {
				holds = "guard " + string(guard)
			}
		}
		table = append(table, append(row, holds))
	}
	return table
}

// The schemes that are compared: what do five masters buy over one, done right?
const one, five = "single", "redlock"

// comparison says where one master breaks and five hold, and where both break, guard by guard, world by world.
func (r Results) comparison() (lines []string) {
	for _, guard := range []chaos.Guard{chaos.GuardNone, chaos.GuardAll} {
		for _, world := range []struct{ name, what string }{{"live", "scenarios"}, {"sim", "kinds of faults"}} {
			g := r.grid(world.name)
			var onlyOne, onlyFive, both []string
			for _, fault := range g.faults {
				a, b := g.cells[gridKey{fault, one, guard}], g.cells[gridKey{fault, five, guard}]
				switch breaks := chaos.Breaks; {
				case a.Verdict == breaks && b.Verdict == breaks:
					both = append(both, fault)
				case a.Verdict == breaks && b.Verdict == chaos.Holds:
					onlyOne = append(onlyOne, fault)
				case a.Verdict == chaos.Holds && b.Verdict == breaks:
					onlyFive = append(onlyFive, fault)
				}
			}
			if g.tally(one, guard).reached == 0 || g.tally(five, guard).reached == 0 {
				continue
			}
			lines = append(lines, fmt.Sprintf("Guard %s, %s: %s broke and %s held in %s; both broke in %s; only %s broke in %s.",
				guard, world.what, one, five, list(onlyOne), list(both), five, list(onlyFive)))
		}
	}
	return lines
}

// findings are what the run showed of the locks that are compared, in a line each.
func (r Results) findings() (lines []string) {
	for _, lock := range []struct{ scheme, what string }{{one, "One master"}, {five, "Five masters"}} {
		var parts []string
		for _, guard := range []struct {
			chaos.Guard
			what string
		}{{chaos.GuardNone, "without a guard"}, {chaos.GuardAll, "with guard all"}} {
			live, sim := r.grid("live").tally(lock.scheme, guard.Guard), r.grid("sim").tally(lock.scheme, guard.Guard)
			var in []string
			if live.reached > 0 {
				in = append(in, fmt.Sprintf("in %v scenarios", live))
			}
			if sim.reached > 0 {
				in = append(in, fmt.Sprintf("under %v kinds of faults", sim))
			}
			if len(in) > 0 {
				parts = append(parts, strings.Join(in, " and ")+" "+guard.what)
			}
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s (%s) broke %s.", lock.what, lock.scheme, strings.Join(parts, "; ")))
		}
	}
	return lines
}

// list names what there is, or says that there is nothing.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d (%s)", len(names), strings.Join(names, ", "))
}

// measuresTable has a row for each scheme that was measured.
func (r Results) measuresTable() [][]string {
	table := [][]string{measureHead()}
	for _, m := range r.Measures {
		table = append(table, m.row())
	}
	return table
}

// limits are what the run does not show.
func (r Results) limits() []string {
	live, sim := r.In("live"), r.In("sim")
	limits := []string{
		fmt.Sprintf("One machine with %d CPUs, %.0f s. Masters and clients talked over its loopback or in a simulation: times on your network are longer.",
			r.Meta.CPUs, r.Meta.DurationS),
		"That a cell holds says that these runs of it held, not that all do. That it breaks is certain, and can be replayed.",
	}
	if n := len(live.Cells); n > 0 {
		limits = append(limits, fmt.Sprintf("%d live cells, played %d times in all, on %s nodes (%s).", n, live.runs(), r.Meta.Nodes, r.Meta.Redis))
		if r.Meta.Nodes == "embedded" {
			limits = append(limits, "No real redis-server took part: the masters were stand-ins in the harness' own process.")
		}
	}
	if n := len(sim.Cells); n > 0 {
		limits = append(limits, fmt.Sprintf("%d simulated cells, %d random schedules in all; masters are a model there, which tests hold to real ones.", n, sim.runs()))
	}
	if len(r.Measures) == 0 {
		limits = append(limits, "Latency, availability and fail-over were not measured in this run.")
	} else {
		limits = append(limits, "Latency is that of a lock that nobody else wants; availability counts attempts on masters that were killed.")
	}
	if n := len(r.unreached()); n > 0 {
		limits = append(limits, fmt.Sprintf("Cells that did not get to the state that they are about, and show nothing: %d.", n))
	}
	return limits
}

// unreached are the cells that show nothing.
func (r Results) unreached() []Cell {
	return slices.DeleteFunc(slices.Clone(r.Cells), func(c Cell) bool { return c.Verdict != chaos.Unreached })
}
