package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// A row is what one scheme made of one fault under each guard.
type row struct {
	fault, scheme string
	cells         map[chaos.Guard]Cell
}

// rows keeps the order of the cells.
func (r Results) rows() []row {
	var rows []row
	index := map[[2]string]int{}
	for _, c := range r.Cells {
		key := [2]string{c.Fault, c.Scheme}
		i, ok := index[key]
		if !ok {
			i = len(rows)
			index[key] = i
			rows = append(rows, row{c.Fault, c.Scheme, map[chaos.Guard]Cell{}})
		}
		rows[i].cells[c.Guard] = c
	}
	return rows
}

// says is a cell in a few words.
func (c Cell) says() string {
	var b strings.Builder
	b.WriteString(string(c.Verdict))
	if c.Verdict != chaos.Unreached {
		var counts []string
		for _, count := range []struct {
			n    int
			what string
		}{{c.Overlaps, "inside twice"}, {c.Corruptions, "damaged"}, {c.Refusals, "refused"}} {
			if count.n > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", count.n, count.what))
			}
		}
		if len(counts) > 0 {
			b.WriteString(" (" + strings.Join(counts, ", ") + ")")
		}
	}
	if !c.AsExpected() {
		fmt.Fprintf(&b, " EXPECTED %s", c.Expected)
	}
	return b.String()
}

// Matrix prints a line for each scheme and fault, with a column for each guard.
func (r Results) Matrix(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "SCENARIO\tSCHEME")
	for _, g := range chaos.Guards() {
		fmt.Fprintf(table, "\tGUARD %s", strings.ToUpper(string(g)))
	}
	fmt.Fprintln(table)
	for _, row := range r.rows() {
		fmt.Fprintf(table, "%s\t%s", row.fault, row.scheme)
		for _, g := range chaos.Guards() {
			fmt.Fprint(table, "\t")
			if c, ok := row.cells[g]; ok {
				fmt.Fprint(table, c.says())
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// In returns the results of one world, live or sim.
func (r Results) In(world string) Results {
	part := Results{Meta: r.Meta}
	for _, c := range r.Cells {
		if c.World == world {
			part.Cells = append(part.Cells, c)
		}
	}
	return part
}

// letters are the verdicts in the search matrix.
var letters = map[chaos.Outcome]string{chaos.Holds: ".", chaos.Breaks: "B", chaos.Unreached: "?"}

// legend explains the letters.
const legend = "One letter for each guard, none, writes, all, cas: B breaks, . holds, ? not reached; ! marks what was not expected."

// searchTable has a row for each kind of fault, and a column for each scheme with a letter for each guard.
func (r Results) searchTable() [][]string {
	head := []string{"FAULT"}
	var faults []string
	cells := map[[3]string]Cell{}
	for _, c := range r.Cells {
		if !slices.Contains(faults, c.Fault) {
			faults = append(faults, c.Fault)
		}
		if !slices.Contains(head[1:], c.Scheme) {
			head = append(head, c.Scheme)
		}
		cells[[3]string{c.Fault, c.Scheme, string(c.Guard)}] = c
	}
	table := [][]string{head}
	for _, fault := range faults {
		row := []string{fault}
		for _, scheme := range head[1:] {
			text := ""
			for _, guard := range chaos.Guards() {
				if c, ok := cells[[3]string{fault, scheme, string(guard)}]; ok {
					text += letters[c.Verdict]
					if !c.AsExpected() {
						text += "!"
					}
				}
			}
			row = append(row, text)
		}
		table = append(table, row)
	}
	return table
}

// SearchMatrix prints the table of the search.
func (r Results) SearchMatrix(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.searchTable() {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, legend)
	return err
}

// markdown is a row of a table, with what else it takes after the first.
func markdown(table [][]string) string {
	var b strings.Builder
	for i, row := range table {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}

// Markdown prints RESULTS.md.
func (r Results) Markdown(w io.Writer) error {
	live, search := r.In("live"), r.In("sim")
	runs := 0
	for _, c := range search.Cells {
		runs += c.Runs
	}
	table := [][]string{{"scenario", "scheme"}}
	for _, g := range chaos.Guards() {
		table[0] = append(table[0], fmt.Sprintf("guard `%s`", g))
	}
	for _, row := range live.rows() {
		line := []string{row.fault, row.scheme}
		for _, g := range chaos.Guards() {
			text := ""
			if c, ok := row.cells[g]; ok {
				text = c.says()
			}
			line = append(line, text)
		}
		table = append(table, line)
	}
	_, err := fmt.Fprintf(w, `# Results

Made by `+"`make results`"+` from one run of `+"`make chaos`"+`: commit %s, %s, %s (%s nodes), %d CPUs, %s, %.0f s. docs/harness.md explains the
tables. A cell that holds says that this run of it held.

## Scenarios on real servers and processes

Again: `+"`make chaos NODES=%s SCENARIO=… SCHEME=… GUARD=…`"+`

%s
## Search in the simulation

%d schedules. %s

%s
Again: `+"`make search SCHEME=… FAULT=… GUARD=…`"+`, and the story of what broke with `+"`make replay PLAN='…'`"+`, as out/results.json has it.
`, r.Meta.Commit, r.Meta.Go, r.Meta.Redis, r.Meta.Nodes, r.Meta.CPUs, r.Meta.Started.UTC().Format("2006-01-02"), r.Meta.DurationS,
		r.Meta.Nodes, markdown(table), runs, legend, markdown(search.searchTable()))
	return err
}
