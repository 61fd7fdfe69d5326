package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/chaos/report"
)

// The client processes are this test binary, once more.
func TestMain(m *testing.M) {
	live.BeClient()
	os.Exit(m.Run())
}

func TestWrongCallsEndWithTheHarnessOwnStatus(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--scenario", "no-such-thing"},
		{"run", "--scheme", "no-such-thing"},
		{"run", "--guard", "no-such-thing"},
		{"run", "--nodes", "no-such-thing"},
		{"run", "--scenario", "same-lock-two-grants", "--scheme", "single"},
		{"run", "--out", file},
		{"run", "--no-such-flag"},
		{"run", "argument"},
		{"report", file},
		{"report", file + "-that-is-not-there"},
		{"search", "--schedules", "0"},
		{"search", "--shard", "2/2"},
		{"search", "--shard", "x"},
		{"search", "--fault", "no-such-thing"},
		{"replay", "no such plan"},
		{"merge"},
		{"no-such-command"},
	} {
		if got := run(args); got != failed {
			t.Errorf("chaos %s: exit status %d, want %d", strings.Join(args, " "), got, failed)
		}
	}
}

func TestHelpAndListEndWithZero(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"list"}} {
		if got := run(args); got != asExpected {
			t.Errorf("chaos %s: exit status %d", strings.Join(args, " "), got)
		}
	}
}

func TestShardsMergeIntoTheWholeSearch(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"--scheme", "redlock", "--fault", "client-pause", "--schedules", "40"}
	search := func(out string, more ...string) {
		t.Helper()
		if got := run(slices.Concat([]string{"search", "--out", file(out)}, args, more)); got == failed {
			t.Fatalf("search %v: exit status %d", more, got)
		}
	}
	search("0", "--shard", "0/2", "--guard", "all")
	search("1", "--shard", "1/2", "--guard", "all")
	if got := run([]string{"merge", file("0"), file("1"), "--out", file("merged")}); got != asExpected {
		t.Errorf("merge: exit status %d", got)
	}
	merged, err := report.Load(file("merged"))
	if err != nil || len(merged.Cells) != 1 || merged.Cells[0].Runs != 80 {
		t.Errorf("merged: %+v, %v", merged.Cells, err)
	}
}

func TestReplayTellsThePlansStory(t *testing.T) {
	plan := "redlock client-pause none 2x1 4 1@7:pause,913ms"
	var said bytes.Buffer
	cmd := replayCommand()
	cmd.SetArgs([]string{plan})
	cmd.SetOut(&said)
	if err := cmd.Execute(); err != nil || !strings.Contains(said.String(), "a lost update") {
		t.Errorf("%v\n%s", err, &said)
	}
}

func TestRunTellsTheStoryAndWritesTheResults(t *testing.T) {
	out := t.TempDir()
	var said bytes.Buffer
	err := play(t.Context(), &said, selection{nodes: "embedded", scenario: "gc-pause", scheme: "redlock", guard: "none", out: out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	for _, want := range []string{"Kleppmann", "is stopped (SIGSTOP)", "a lost update", "breaks, as expected", "gc-pause  B", "NOT USED"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing is said of %q:\n%s", want, &said)
		}
	}
	results, err := report.Load(filepath.Join(out, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Cells) != 1 || results.Cells[0].Verdict != chaos.Breaks || results.Cells[0].Reached != 1 {
		t.Errorf("the results are %+v", results.Cells)
	}
	stories, err := report.LoadStories(filepath.Join(out, "stories.json"))
	if err != nil || len(stories) != 1 || stories[0].Key != results.Cells[0].Key() || len(stories[0].Injected) == 0 {
		t.Errorf("the stories are %+v, %v", stories, err)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("lost update")) {
		t.Errorf("the page does not show the damage: %v", err)
	}
	if !strings.Contains(results.Cells[0].Replay, "SCENARIO=gc-pause SCHEME=redlock GUARD=none") {
		t.Errorf("the replay command is %q", results.Cells[0].Replay)
	}
}

func TestAnInterruptedRunSaysWhatItHad(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var said bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("[2/")) {
			interrupt()
		}
		return said.Write(p)
	})
	out := t.TempDir()
	err := play(ctx, w, selection{nodes: "embedded", scenario: "gc-pause", scheme: "redlock", out: out})
	if !errors.Is(err, context.Canceled) || errors.As(err, new(status)) {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(said.String(), "1 of 3 cells were played") {
		t.Errorf("it says:\n%s", &said)
	}
	if results, err := report.Load(filepath.Join(out, "results.json")); err != nil || len(results.Cells) != 1 {
		t.Errorf("it kept %+v, %v", results, err)
	}
}

func TestReportMakesThePageAgain(t *testing.T) {
	out := t.TempDir()
	file := func(name string) string { return filepath.Join(out, name) }
	sel := selection{nodes: "embedded", scenario: "gc-pause", scheme: "single", guard: "none", out: out}
	if err := play(t.Context(), io.Discard, sel); err != nil {
		t.Fatal(err)
	}
	again := func(name string) []byte {
		t.Helper()
		if got := run([]string{"report", file("results.json"), "--html", file(name)}); got != asExpected {
			t.Fatalf("report: exit status %d", got)
		}
		page, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	first, err := os.ReadFile(file("report.html"))
	if err != nil || !bytes.Equal(again("again.html"), first) {
		t.Errorf("the page is another one now, %v", err)
	}
	if err := os.Remove(file("stories.json")); err != nil {
		t.Fatal(err)
	}
	if page := again("counts.html"); !bytes.Contains(page, []byte("SCENARIO=gc-pause")) {
		t.Error("without the stories the page lacks the counts")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
