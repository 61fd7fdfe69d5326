// Package report writes down what the runs of the harness showed: results.json and stories.json for programs, a matrix
// for a terminal, RESULTS.md and report.html for readers. Verdicts are package check's; what is concluded from them here
// is counted, in front of the reader, from the cells and measures of the one run.
package report

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Results is what a run of the harness found: the content of results.json.
type Results struct {
	Meta     Meta       `json:"meta"`
	Run      *Run       `json:"run,omitempty"` // nil if nobody noted it
	Cells    []Cell     `json:"cells"`
	Measures []Measures `json:"measures,omitempty"` // one a scheme; none if nothing was measured
}

// Run says on what machine and by what command, for who wants to do it again.
type Run struct {
	CPU     string `json:"cpu"`     // model
	Command string `json:"command"` // as typed
}

// Meta says where and when.
type Meta struct {
	Commit    string    `json:"commit"` // of this project, with "+changes" if the tree had any
	Go        string    `json:"go"`
	Redis     string    `json:"redis"` // version, or what stood in for it
	Nodes     string    `json:"nodes"` // their kind
	CPUs      int       `json:"cpus"`
	Started   time.Time `json:"started"`
	DurationS float64   `json:"duration_s"` // seconds
}

// Cell is one combination of what was tried, and what came of it. Counts are sums over the runs.
type Cell struct {
	World       string        `json:"world"` // live or sim
	Scheme      string        `json:"scheme"`
	Fault       string        `json:"fault"` // of a live run: the scenario
	Guard       chaos.Guard   `json:"guard"`
	Workload    string        `json:"workload"`
	Runs        int           `json:"runs"`
	Overlaps    int           `json:"overlaps"`    // two clients inside at once
	Corruptions int           `json:"corruptions"` // writes that did damage
	Refusals    int           `json:"refusals"`    // operations that the guard refused
	Reached     int           `json:"reached"`     // runs that got to the state that they are about
	Available   int           `json:"available"`   // runs after which the lock could be had again
	Expected    chaos.Outcome `json:"expected"`
	Verdict     chaos.Outcome `json:"verdict"`
	Seed        uint64        `json:"seed"`   // of a simulated run
	Replay      string        `json:"replay"` // the command that does it again
}

// AsExpected reports whether the verdict is no surprise. What was not reached always is one.
func (c Cell) AsExpected() bool {
	return c.Verdict == c.Expected || c.Expected == chaos.Unknown && c.Verdict != chaos.Unreached
}

// Exit is the status with which the harness ends.
func (r Results) Exit() int {
	status := 0
	for _, c := range r.Cells {
		switch {
		case c.AsExpected():
		case c.Verdict == chaos.Unreached:
			if status == 0 {
				status = 2
			}
		default:
			status = 1
		}
	}
	return status
}

// Unexpected returns the cells whose verdict is not the expected one.
func (r Results) Unexpected() []Cell {
	var cells []Cell
	for _, c := range r.Cells {
		if !c.AsExpected() {
			cells = append(cells, c)
		}
	}
	return cells
}

// Add adds the cells of another part of the same search. A cell that both have is summed up; what breaks in one breaks.
func (r *Results) Add(other Results) {
	index := map[[4]string]int{}
	for i, c := range r.Cells {
		index[c.key()] = i
	}
	for _, c := range other.Cells {
		i, ok := index[c.key()]
		if !ok {
			index[c.key()] = len(r.Cells)
			r.Cells = append(r.Cells, c)
			continue
		}
		sum := &r.Cells[i]
		sum.Runs += c.Runs
		sum.Overlaps += c.Overlaps
		sum.Corruptions += c.Corruptions
		sum.Refusals += c.Refusals
		sum.Reached += c.Reached
		sum.Available += c.Available
		if c.Verdict == chaos.Breaks && sum.Verdict != chaos.Breaks || sum.Verdict == chaos.Unreached {
			sum.Verdict, sum.Seed, sum.Replay = c.Verdict, c.Seed, c.Replay
		}
	}
	r.Meta.DurationS = max(r.Meta.DurationS, other.Meta.DurationS)
}

func (c Cell) key() [4]string { return [4]string{c.World, c.Scheme, c.Fault, string(c.Guard)} }

// Save writes results.json, whole or not at all.
func (r Results) Save(path string) error { return save("the results", path, r) }

// Load reads results.json.
func Load(path string) (Results, error) { return load[Results]("the results", path) }
