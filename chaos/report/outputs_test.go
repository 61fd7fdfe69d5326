package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
)

func printed(t *testing.T, print func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAMatrixIsAtMost25LinesOnATerminal(t *testing.T) {
	all, _ := fixture()
	for _, world := range []string{"live", "sim"} {
		r := all.In(world)
		text := printed(t, func(b *bytes.Buffer) error { return r.Terminal(b) })
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > 25 {
			t.Errorf("%s: %d lines:\n%s", world, len(lines), text)
		}
		for _, line := range lines {
			if len(line) > 120 {
				t.Errorf("%s: a line of %d columns: %s", world, len(line), line)
			}
		}
		for _, c := range r.Cells {
			if !strings.Contains(text, c.Fault) || !strings.Contains(text, c.Scheme) {
				t.Fatalf("%s: nothing is said of %s, %s:\n%s", world, c.Fault, c.Scheme, text)
			}
		}
	}
}

func TestAListOfManyScenariosSaysTheSameAsAMatrix(t *testing.T) {
	r, _ := fixture()
	text := printed(t, func(b *bytes.Buffer) error { return r.In("live").Terminal(b) })
	for _, want := range []string{
		"gc-pause                    ab B...", "oversell                    abcde B...", "scenario-number-8           acde BB..  b B?!..",
		"a single", "b redlock", "guard (none, writes, all, cas)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestAGuardThatWasNotTriedKeepsItsPlace(t *testing.T) {
	c := cell(chaos.Holds, chaos.Holds)
	d := c
	c.Guard, d.Guard, d.Fault = chaos.GuardAll, chaos.GuardNone, "clock-jump"
	g := Results{Cells: []Cell{c, d}}.grid("live")
	if got := g.letters("gc-pause", "redlock"); got != " ." {
		t.Errorf("letters %q", got)
	}
}

func TestStoriesAreReadAsTheyWereWritten(t *testing.T) {
	_, stories := fixture()
	path := filepath.Join(t.TempDir(), "new", "stories.json")
	if err := SaveStories(path, stories); err != nil {
		t.Fatal(err)
	}
	back, err := LoadStories(path)
	if err != nil || !reflect.DeepEqual(back, stories) {
		t.Errorf("read back: %d stories of %d, %v", len(back), len(stories), err)
	}
}

func TestAStorySaysWhatWasInjectedAndItsProof(t *testing.T) {
	s := Tell(Cell{}, "", "", "", clockJump())
	if len(s.Injected) != 3 || s.Injected[2] != "0.012 s: Master C: its clock is stepped by +5s: TIME was 1796042077.114, and is 1796042082.115" {
		t.Errorf("injected: %q", s.Injected)
	}
	if len(s.Steps) != len(s.Events) || s.Steps[3] != "0.009 s: Client 1 has the lock until 4.005 s, token 7" {
		t.Errorf("steps: %q", s.Steps)
	}
}

func TestWhatItMeansIsCountedFromTheCells(t *testing.T) {
	of := func(fault, scheme string, guard chaos.Guard, verdict chaos.Outcome) Cell {
		return Cell{World: "live", Fault: fault, Scheme: scheme, Guard: guard, Verdict: verdict, Expected: verdict}
	}
	r := Results{Cells: []Cell{
		of("pause", "single", chaos.GuardNone, chaos.Breaks), of("pause", "redlock", chaos.GuardNone, chaos.Breaks),
		of("amnesia", "single", chaos.GuardNone, chaos.Breaks), of("amnesia", "redlock", chaos.GuardNone, chaos.Holds),
		of("amnesia", "single", chaos.GuardAll, chaos.Breaks), of("amnesia", "redlock", chaos.GuardAll, chaos.Holds),
		of("cut", "single", chaos.GuardNone, chaos.Unreached), of("cut", "redlock", chaos.GuardNone, chaos.Holds),
	}}
	table := r.safetyTable()
	want := [][]string{
		{"single", "2 of 2", "not tried", "1 of 1", "not tried", "none of them"},
		{"redlock", "1 of 3", "not tried", "0 of 1", "not tried", "guard all"},
	}
	if !reflect.DeepEqual(table[1:], want) {
		t.Errorf("safety: %q, want %q", table[1:], want)
	}
	comparison := strings.Join(r.comparison(), "\n")
	for _, want := range []string{
		"Guard none, scenarios: single broke and redlock held in 1 (amnesia); both broke in 1 (pause); only redlock broke in none.",
		"Guard all, scenarios: single broke and redlock held in 1 (amnesia); both broke in none; only redlock broke in none.",
	} {
		if !strings.Contains(comparison, want) {
			t.Errorf("it does not say %q:\n%s", want, comparison)
		}
	}
	if got := fmt.Sprint(r.findings()); !strings.Contains(got, "Five masters (redlock) broke in 1 of 3 scenarios without a guard; in 0 of 1 scenarios with guard all.") {
		t.Errorf("findings: %s", got)
	}
	if limits := fmt.Sprint(r.limits()); !strings.Contains(limits, "show nothing: 1.") || !strings.Contains(limits, "were not measured") {
		t.Errorf("limits: %s", limits)
	}
}

func TestWhatWasNotMeasuredIsSaidToBeSo(t *testing.T) {
	r, _ := fixture()
	want := [][]string{
		{"single", "20 of 20", "0 of 20", "not measured", "not measured", "812 ms", "0.11 ms", "0.42 ms", "200"},
		{"redlock", "20 of 20", "20 of 20", "20 of 20", "0 of 20", "not measured", "0.34 ms", "1.20 ms", "200"},
	}
	if got := r.measuresTable()[1:]; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if row := (Measures{Scheme: "new"}).row(); len(row) != len(measureHead()) || row[6] != "not measured" {
		t.Errorf("of nothing: %q", row)
	}
}

func TestMarkdownNamesTheMachineTheCommandAndTheMeasures(t *testing.T) {
	r, _ := fixture()
	r.Cells[0].Fault = "a|b"
	text := printed(t, func(b *bytes.Buffer) error { return r.Markdown(b) })
	for _, want := range []string{
		"0123456789ab", "2026-12-01 08:00 UTC", "Example CPU @ 2.10GHz", "`chaos run --nodes process`", "redis-server 7.0.15",
		"| redlock | 20 of 20 | 20 of 20 | 20 of 20 | 0 of 20 | not measured | 0.34 ms | 1.20 ms | 200 |", `| a\|b | single |`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

func TestThePageNeedsNoStoriesNoMeasuresAndNoCells(t *testing.T) {
	full, _ := fixture()
	for _, r := range []Results{{}, {Cells: full.Cells}, {Measures: full.Measures}} {
		page := printed(t, func(b *bytes.Buffer) error { return HTML(b, r, nil) })
		if !strings.Contains(page, "What this means for you") || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("with %d cells the page is not whole", len(r.Cells))
		}
	}
}
