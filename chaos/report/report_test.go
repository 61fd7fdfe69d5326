package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

func cell(expected, verdict chaos.Outcome) Cell {
	return Cell{World: "live", Scheme: "redlock", Fault: "gc-pause", Guard: chaos.GuardNone, Workload: "counter",
		Runs: 1, Overlaps: 1, Corruptions: 2, Reached: 1, Available: 1, Expected: expected, Verdict: verdict, Replay: "make chaos"}
}

func TestExitStatus(t *testing.T) {
	asExpected := cell(chaos.Breaks, chaos.Breaks)
	damage := cell(chaos.Holds, chaos.Breaks)
	noDamage := cell(chaos.Breaks, chaos.Holds)
	unreached := cell(chaos.Breaks, chaos.Unreached)
	for _, test := range []struct {
		cells []Cell
		want  int
	}{
		{[]Cell{asExpected}, 0},
		{[]Cell{asExpected, damage}, 1},
		{[]Cell{asExpected, noDamage}, 1},
		{[]Cell{unreached, asExpected}, 2},
		{[]Cell{unreached, damage}, 1},
		{[]Cell{damage, unreached}, 1},
	} {
		if got := (Results{Cells: test.cells}).Exit(); got != test.want {
			t.Errorf("%v: exit %d, want %d", test.cells, got, test.want)
		}
	}
}

// The names are those that other programs read.
func TestResultsFileHasTheDocumentedFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "results.json")
	results := Results{Meta: Meta{Commit: "abc", Started: time.Unix(0, 0).UTC()}, Cells: []Cell{cell(chaos.Breaks, chaos.Breaks)}}
	if err := results.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Meta  map[string]any
		Cells []map[string]any
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("commit go redis nodes cpus started duration_s") {
		if _, ok := got.Meta[name]; !ok {
			t.Errorf("meta has no %q", name)
		}
	}
	fields := strings.Fields("world scheme fault guard workload runs overlaps corruptions refusals reached available expected verdict seed replay")
	for _, name := range fields {
		if _, ok := got.Cells[0][name]; !ok {
			t.Errorf("a cell has no %q", name)
		}
	}
	if len(got.Cells[0]) != len(fields) {
		t.Errorf("a cell has %d fields, want %d", len(got.Cells[0]), len(fields))
	}
	back, err := Load(path)
	if err != nil || back.Cells[0] != results.Cells[0] || back.Meta != results.Meta {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

func TestSaveLeavesNoHalfFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "results.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (Results{}).Save(filepath.Join(dir, "results.json")); err == nil {
		t.Error("a folder was overwritten")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := Load(filepath.Join(dir, "none.json")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestMatrixSaysWhatWasNotExpected(t *testing.T) {
	results := Results{Cells: []Cell{cell(chaos.Holds, chaos.Breaks)}}
	var terminal, markdown bytes.Buffer
	if err := results.Terminal(&terminal); err != nil {
		t.Fatal(err)
	}
	if err := results.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(terminal.String(), "gc-pause  B!") {
		t.Errorf("the deviation is not shown:\n%s", &terminal)
	}
	if !strings.Contains(markdown.String(), "breaks (1 inside twice, 2 damaged) EXPECTED holds") {
		t.Errorf("the deviation is not shown:\n%s", &markdown)
	}
}
