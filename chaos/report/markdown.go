package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown prints RESULTS.md.
func (r Results) Markdown(w io.Writer) error {
	live, sim := r.grid("live"), r.grid("sim")
	_, err := fmt.Fprintf(w, `# Results

Made by `+"`make results`"+` from one run of `+"`make chaos`"+`. docs/harness.md explains the tables. A cell that holds says that this
run of it held.

%s
## Scenarios on real servers and processes

%s
Again: `+"`make chaos NODES=%s SCENARIO=… SCHEME=… GUARD=…`"+`

## Search in the simulation

%d schedules. %s

%s
Again: `+"`make search SCHEME=… FAULT=… GUARD=…`"+`, and the story of what broke with `+"`make replay PLAN='…'`"+`, as out/results.json has it.

## What this means

In how many of the scenarios and of the kinds of faults a scheme broke, of those that were reached.

%s
%s
%s
%s`, markdown(r.machine()), markdown(live.table()), r.Meta.Nodes, r.In("sim").runs(), sim.legend(), markdown(sim.letterTable()),
		markdown(r.safetyTable()), bullets(r.comparison()), markdown(r.measuresTable()), bullets(r.limits()))
	return err
}

// machine is where and when, as a table.
func (r Results) machine() [][]string {
	table := [][]string{
		{"what", "which"},
		{"commit", r.Meta.Commit},
		{"date", r.Meta.Started.UTC().Format("2006-01-02 15:04 MST")},
		{"took", fmt.Sprintf("%.0f s", r.Meta.DurationS)},
		{"CPUs", fmt.Sprint(r.Meta.CPUs)},
		{"Go", r.Meta.Go},
		{"Redis", fmt.Sprintf("%s (%s nodes)", r.Meta.Redis, r.Meta.Nodes)},
	}
	if r.Run != nil {
		table[4][1] = fmt.Sprintf("%d, %s", r.Meta.CPUs, r.Run.CPU)
		table = append(table, []string{"command", "`" + r.Run.Command + "`"})
	}
	return table
}

// table has a row for each fault and scheme, and a column for each guard that says what came of it.
func (g grid) table() [][]string {
	head := []string{"scenario", "scheme"}
	for _, guard := range g.guards {
		head = append(head, fmt.Sprintf("guard `%s`", guard))
	}
	table := [][]string{head}
	for _, fault := range g.faults {
		for _, scheme := range g.schemes {
			row := []string{fault, scheme}
			for _, guard := range g.guards {
				text := ""
				if c, ok := g.cells[gridKey{fault, scheme, guard}]; ok {
					text = c.says()
				}
				row = append(row, text)
			}
			if len(g.at(fault, scheme)) > 0 {
				table = append(table, row)
			}
		}
	}
	return table
}

// letterTable has a row for each fault, and a column for each scheme with a letter for each guard.
func (g grid) letterTable() [][]string {
	table := [][]string{append([]string{"fault"}, g.schemes...)}
	for _, fault := range g.faults {
		row := []string{fault}
		for _, scheme := range g.schemes {
			row = append(row, g.letters(fault, scheme))
		}
		table = append(table, row)
	}
	return table
}

// markdown is a table.
func markdown(table [][]string) string {
	var b strings.Builder
	for i, row := range table {
		for _, cell := range row {
			b.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}

func bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("- " + line + "\n")
	}
	return b.String()
}
