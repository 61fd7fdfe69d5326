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
	if c.Verdict != c.Expected {
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

// SearchMatrix prints a line for each kind of fault, and a column for each scheme with a letter for each guard.
func (r Results) SearchMatrix(w io.Writer) error {
	var faults, schemes []string
	cells := map[[3]string]Cell{}
	for _, c := range r.Cells {
		if !slices.Contains(faults, c.Fault) {
			faults = append(faults, c.Fault)
		}
		if !slices.Contains(schemes, c.Scheme) {
			schemes = append(schemes, c.Scheme)
		}
		cells[[3]string{c.Fault, c.Scheme, string(c.Guard)}] = c
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "FAULT\t%s\n", strings.Join(schemes, "\t"))
	for _, fault := range faults {
		fmt.Fprint(table, fault)
		for _, scheme := range schemes {
			text := ""
			for _, guard := range chaos.Guards() {
				c, ok := cells[[3]string{fault, scheme, string(guard)}]
				switch {
				case !ok:
					text += " "
				case c.Verdict != c.Expected:
					text += letters[c.Verdict] + "!"
				default:
					text += letters[c.Verdict]
				}
			}
			fmt.Fprint(table, "\t"+text)
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "One letter for each guard, none, writes, all: B breaks, . holds, ? not reached; ! marks what was not expected.")
	return err
}

// Markdown prints RESULTS.md.
func (r Results) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Results

Made by `+"`make results`"+` from one run of `+"`make chaos`"+`: commit %s, %s, %s (%s nodes), %d CPUs, %s, %.0f s.
Every cell is a run on servers and client processes of its own, and can be done again by
`+"`make chaos NODES=%s SCENARIO=… SCHEME=… GUARD=…`"+`.

"breaks": the resource was damaged, or, where no guard is in place, two clients were inside at once. "holds": neither.
"inside twice": a client came into the critical section while another was in it. "damaged": accepted writes that
overwrote what their writer had not read, or that carried a token below one already seen. "refused": operations that the
guard turned away.

`, r.Meta.Commit, r.Meta.Go, r.Meta.Redis, r.Meta.Nodes, r.Meta.CPUs, r.Meta.Started.UTC().Format("2006-01-02"),
		r.Meta.DurationS, r.Meta.Nodes)
	b.WriteString("| scenario | scheme |")
	for _, g := range chaos.Guards() {
		fmt.Fprintf(&b, " guard `%s` |", g)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(chaos.Guards())) + "\n")
	for _, row := range r.rows() {
		fmt.Fprintf(&b, "| %s | %s |", row.fault, row.scheme)
		for _, g := range chaos.Guards() {
			text := ""
			if c, ok := row.cells[g]; ok {
				text = c.says()
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
