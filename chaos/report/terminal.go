package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// screen is how many lines a matrix takes on a terminal at most, its legend included.
const screen = 25

// Terminal prints a matrix for each world that was played, of at most 25 lines each. Schemes are letters there, and
// names in the legend. A matrix with too many rows is a list in several columns, and schemes that a fault makes the same
// of stand together in it: "ab BB.." says that a and b break under the first two guards and hold under the others.
func (r Results) Terminal(w io.Writer) error {
	for _, world := range []struct{ name, title string }{
		{"live", "SCENARIOS, on real servers and processes"},
		{"sim", "FAULTS, searched for in the simulation"},
	} {
		g := r.grid(world.name)
		if len(g.cells) == 0 {
			continue
		}
		var names strings.Builder
		codes := map[string]string{}
		for i, scheme := range g.schemes {
			codes[scheme] = code(i)
			fmt.Fprintf(&names, "%s %s  ", codes[scheme], scheme)
		}
		legend := append(wrap(strings.TrimSpace(names.String()), lineWidth), g.legend())
		rows := screen - 1 - len(legend)
		lines := g.columns(codes)
		if len(lines) > rows {
			lines = fold(g.groups(codes), rows)
		}
		lines = append([]string{world.title}, lines...)
		if _, err := fmt.Fprintln(w, strings.Join(append(lines, legend...), "\n")); err != nil {
			return err
		}
	}
	return nil
}

const lineWidth = 110 // columns of a terminal that is not small

// code is the n-th of a, b .. z, aa, ab and so on.
func code(n int) string {
	if n < 26 {
		return string(rune('a' + n))
	}
	return code(n/26-1) + code(n%26)
}

// columns are the rows of the matrix, with a column for each scheme.
func (g grid) columns(codes map[string]string) []string {
	lines := append([]string{""}, g.faults...)
	for _, scheme := range g.schemes {
		column := []string{"  " + codes[scheme]}
		for _, fault := range g.faults {
			column = append(column, "  "+g.letters(fault, scheme))
		}
		lines = beside(lines, column)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// groups are the same rows with the schemes named that a fault makes the same of.
func (g grid) groups(codes map[string]string) []string {
	type group struct{ codes, letters string }
	var names, texts []string
	for _, fault := range g.faults {
		var groups []group
		for _, scheme := range g.schemes {
			letters := g.letters(fault, scheme)
			if letters == "" {
				continue
			}
			i := slices.IndexFunc(groups, func(other group) bool { return other.letters == letters })
			if i < 0 {
				i, groups = len(groups), append(groups, group{letters: letters})
			}
			groups[i].codes += codes[scheme]
		}
		var text strings.Builder
		for _, one := range groups {
			fmt.Fprintf(&text, "  %s %s", one.codes, one.letters)
		}
		names, texts = append(names, fault), append(texts, text.String())
	}
	return beside(names, texts)
}

// beside puts two columns beside each other.
func beside(left, right []string) []string {
	width := 0
	for _, text := range left {
		width = max(width, len([]rune(text)))
	}
	var lines []string
	for i := range left {
		line := left[i]
		if i < len(right) {
			line += strings.Repeat(" ", width-len([]rune(left[i]))) + right[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// fold lays lines out in as many columns as it takes for them to be no more than the given number.
func fold(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	columns := (len(lines) + most - 1) / most
	height := (len(lines) + columns - 1) / columns
	var folded []string
	for column := range slices.Chunk(lines, height) {
		if folded == nil {
			folded = column
			continue
		}
		for i := range column {
			column[i] = "  | " + column[i]
		}
		folded = beside(folded, column)
	}
	return folded
}

// wrap breaks a text between words.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Split(text, "  ") {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+2+len(word) <= width:
			*last += "  " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
