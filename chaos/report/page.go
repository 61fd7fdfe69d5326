package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// HTML writes report.html: one file that needs no other and no network. Cells without a story have their counts alone.
func HTML(w io.Writer, r Results, stories []Story) error {
	var b bytes.Buffer // whole or not at all
	if err := pageTemplate.Execute(&b, newPage(r, stories)); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

// SaveHTML writes report.html, whole or not at all.
func SaveHTML(path string, r Results, stories []Story) error {
	var b bytes.Buffer
	if err := HTML(&b, r, stories); err != nil {
		return err
	}
	return write("the page", path, b.Bytes())
}

// page is what the template is filled with.
type page struct {
	CSS        template.CSS
	JS         template.JS
	Headline   string
	Findings   []string
	Unexpected []cellView
	Worlds     []worldView
	Machine    [][]string
	Safety     [][]string
	Comparison []string
	Measures   [][]string
	Limits     []string
	Schemes    []schemeView
}

type schemeView struct{ Name, About string }

// A worldView is a matrix and what is behind its cells.
type worldView struct {
	ID, Title, About string
	Noun             string // what a row is
	Guards           []guardView
	Schemes          []string
	Rows             []rowView
}

type guardView struct {
	Name, Short, About string
	First              bool // of a scheme's
}

// A rowView is a fault.
type rowView struct {
	ID, Fault, Source, About string
	Cells                    []cellView // of the matrix, one for each scheme and guard; without ID if it was not tried
	Tried                    []cellView
	Summary                  string
	Open                     bool // the first of the page
}

type cellView struct {
	Cell
	ID      string
	Letter  string
	Class   string // of the verdict
	Label   string // for who cannot see the matrix
	Says    string
	First   bool   // of a scheme's
	Open    bool   // the first of the page
	Title   string // of the story, if it says more than the matrix
	Story   *Story
	Picture lanes
}

func newPage(r Results, stories []Story) page {
	p := page{
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Headline: r.headline(), Findings: r.findings(),
		Machine: r.machine(), Safety: r.safetyTable(), Comparison: r.comparison(), Measures: r.measuresTable(), Limits: r.limits(),
	}
	for _, name := range r.schemes() {
		if scheme, err := schemes.ByName(name); err == nil {
			p.Schemes = append(p.Schemes, schemeView{name, scheme.About})
		}
	}
	told := map[Key]*Story{}
	for i, s := range stories {
		told[s.Key] = &stories[i]
	}
	ids := ids{}
	for _, world := range []worldView{
		{ID: "live", Noun: "scenario", Title: "Scenarios on real servers and processes",
			About: "Each argument was acted out once for each scheme and guard, step by step, on masters and client processes of its own."},
		{ID: "sim", Noun: "fault", Title: "Search in the simulation",
			About: "Random schedules with one kind of fault were tried in virtual time until one broke or they were used up; what broke was made short."},
	} {
		if g := r.grid(world.ID); len(g.cells) > 0 {
			world.fill(g, told, ids)
			p.Worlds = append(p.Worlds, world)
		}
	}
	open := false
	for _, world := range p.Worlds {
		for i := range world.Rows {
			row := &world.Rows[i]
			for j := range row.Tried {
				c := &row.Tried[j]
				if !open && c.Story != nil {
					row.Open, c.Open, open = true, true, true
				}
				if !c.AsExpected() {
					p.Unexpected = append(p.Unexpected, *c)
				}
			}
		}
	}
	return p
}

// fill makes the rows of a world.
func (v *worldView) fill(g grid, told map[Key]*Story, ids ids) {
	v.Schemes = g.schemes
	for i, guard := range g.guards {
		v.Guards = append(v.Guards, guardView{string(guard), short(guard), checks[guard], i == 0})
	}
	for _, fault := range g.faults {
		row := rowView{ID: ids.make(g.world, fault), Fault: fault}
		broke := 0
		for _, scheme := range g.schemes {
			for i, guard := range g.guards {
				c, tried := g.cells[gridKey{fault, scheme, guard}]
				if !tried {
					row.Cells = append(row.Cells, cellView{First: i == 0})
					continue
				}
				view := newCellView(c, told[c.Key()])
				view.ID, view.First = ids.make(g.world, fault, scheme, string(guard)), i == 0
				row.Cells = append(row.Cells, view)
				row.Tried = append(row.Tried, view)
				if c.Verdict == chaos.Breaks {
					broke++
				}
				if s := view.Story; s != nil && row.About == "" {
					row.About, row.Source = s.About, s.Source
				}
			}
		}
		row.Summary = fmt.Sprintf("%d of %d broke", broke, len(row.Tried))
		v.Rows = append(v.Rows, row)
	}
}

// checks says what guards check.
var checks = map[chaos.Guard]string{
	chaos.GuardNone:   "the resource takes everything",
	chaos.GuardWrites: "it refuses writes with an older fencing token than it has seen",
	chaos.GuardAll:    "reads carry the token too, and older ones are refused",
	"cas":             "no token: a write names the version it was made from",
	"mark":            "who reads leaves its token, and only who left the last may write",
}

// short is a guard's name over a narrow column.
func short(guard chaos.Guard) string {
	name := []rune(string(guard))
	return string(name[:min(len(name), 1)])
}

func newCellView(c Cell, s *Story) cellView {
	v := cellView{Cell: c, Story: s, Says: c.says(), Class: string(c.Verdict), Letter: "✓"}
	switch c.Verdict {
	case chaos.Breaks:
		v.Letter = "B"
	case chaos.Unreached:
		v.Letter = "?"
	case chaos.Holds:
	default:
		v.Class, v.Letter = "unreached", "?"
	}
	expected := "as expected"
	if !c.AsExpected() {
		v.Letter += "!"
		expected = "expected: " + string(c.Expected)
	}
	v.Label = fmt.Sprintf("%s, %s, guard %s: %s, %s", c.Fault, c.Scheme, c.Guard, c.Verdict, expected)
	if s != nil {
		v.Picture = paint(s.Events)
		if s.Title != c.Fault {
			v.Title = s.Title
		}
	}
	return v
}

// headline is the run in a sentence.
func (r Results) headline() string {
	counts := map[chaos.Outcome]int{}
	for _, c := range r.Cells {
		counts[c.Verdict]++
	}
	text := fmt.Sprintf("%d combinations of lock, fault and guard: %d broke, %d held", len(r.Cells), counts[chaos.Breaks], counts[chaos.Holds])
	if n := counts[chaos.Unreached]; n > 0 {
		text += fmt.Sprintf(", %d did not get to what they are about", n)
	}
	if n := len(r.Unexpected()); n > 0 {
		return text + fmt.Sprintf("; %d NOT as expected.", n)
	}
	return text + "; all as expected."
}

// ids makes anchors of names, each once.
type ids map[string]int

func (ids ids) make(parts ...string) string {
	id := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, strings.Join(parts, "-"))
	ids[id]++
	if n := ids[id]; n > 1 {
		id = fmt.Sprintf("%s--%d", id, n)
	}
	return id
}
