package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/chaos/report"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// selection is what the flags of run ask for. Empty means all.
type selection struct {
	nodes, scenario, scheme, guard, out string
	schedules                           int // of the search that comes first; 0 for none
}

func runCommand() *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Search the simulation for breaks, then play the scenarios on servers of its own",
		Long: `Search the simulation for breaks (see chaos search), unless one scenario is asked for. Then play the
scenarios: each for every scheme that it is about, under every guard, on servers and client processes that
are started for that run and ended after it. The steps are printed as they happen, then the matrix;
results.json, stories.json and report.html are written into the folder given with --out.`,
		Example: `  chaos run
  chaos run --scenario gc-pause
  chaos run --nodes process --scenario clock-jump --scheme redlock --guard none`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return play(cmd.Context(), cmd.OutOrStdout(), sel)
		},
	}
	f := cmd.Flags()
	f.StringVar(&sel.nodes, "nodes", "auto", "what the masters are: auto, process (redis-server), embedded (miniredis)")
	f.StringVar(&sel.scenario, "scenario", "", "only this one (see chaos list)")
	f.StringVar(&sel.scheme, "scheme", "", "only this one (see chaos list)")
	f.StringVar(&sel.guard, "guard", "", "only this one: none, writes, all")
	f.IntVar(&sel.schedules, "schedules", defaultSchedules, "how many schedules to search for each cell that must hold; 0 for no search")
	f.StringVar(&sel.out, "out", "out", "the folder for results.json, stories.json and report.html")
	return cmd
}

// cells returns what is to be played, in order.
func (sel selection) cells() ([]live.Run, error) {
	all := scenarios.All()
	if sel.scenario != "" {
		one, err := scenarios.ByName(sel.scenario)
		if err != nil {
			return nil, err
		}
		all = []chaos.Scenario{one}
	}
	if sel.scheme != "" {
		if _, err := schemes.ByName(sel.scheme); err != nil {
			return nil, err
		}
	}
	if sel.guard != "" {
		if _, err := chaos.GuardByName(sel.guard); err != nil {
			return nil, err
		}
	}
	var runs []live.Run
	for _, scenario := range all {
		for _, scheme := range schemes.All() {
			if _, about := scenario.Expect[scheme.Name]; !about || sel.scheme != "" && sel.scheme != scheme.Name {
				continue
			}
			for _, guard := range chaos.Guards() {
				if sel.guard == "" || sel.guard == string(guard) {
					runs = append(runs, live.Run{Scenario: scenario, Scheme: scheme, Guard: guard})
				}
			}
		}
	}
	if len(runs) == 0 && sel.scenario != "" {
		return nil, fmt.Errorf("scenario %s is not about scheme %s", sel.scenario, sel.scheme)
	}
	return runs, nil
}

// play carries out the selection.
func play(ctx context.Context, w io.Writer, sel selection) (err error) {
	runs, err := sel.cells()
	if err != nil {
		return err
	}
	kind, reason, err := live.Choose(sel.nodes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(sel.out, 0o755); err != nil {
		return fmt.Errorf("the folder for the results: %w", err)
	}
	dir, err := os.MkdirTemp("", "quorumlock-")
	if err != nil {
		return fmt.Errorf("a folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	fmt.Fprintf(w, "nodes: %s: %s\n", kind, reason)
	if kind == live.Embedded {
		fmt.Fprintln(w, "NOT USED: real redis-servers. What follows was played on stand-ins in this process; install redis-server for the real thing.")
	}
	results := report.Results{Meta: meta(), Run: machine()}
	var stories []report.Story
	results.Meta.Nodes = kind.String()
	results.Meta.Redis, _, _ = strings.Cut(reason, " at ")
	defer func() {
		results.Meta.DurationS = time.Since(results.Meta.Started).Round(time.Millisecond).Seconds()
		err = conclude(w, results, stories, len(runs), sel.out, err)
	}()
	if sel.scenario == "" && sel.schedules > 0 {
		h := hunt{scheme: sel.scheme, guard: sel.guard, schedules: sel.schedules, shard: "0/1"}
		cells, err := h.cells()
		if err != nil {
			return err
		}
		found, err := h.search(ctx, w, cells)
		results.Cells, stories = found.Cells, h.told
		if err := errors.Join(err, found.Terminal(w)); err != nil {
			return err
		}
	}
	for i, r := range runs {
		r.Kind, r.Dir = kind, dir
		cell, story, err := playOne(ctx, w, r, fmt.Sprintf("%d/%d", i+1, len(runs)))
		if err != nil {
			return err
		}
		results.Cells, stories = append(results.Cells, cell), append(stories, story)
	}
	return nil
}

// playOne plays one run and tells its story.
func playOne(ctx context.Context, w io.Writer, r live.Run, count string) (report.Cell, report.Story, error) {
	expected := r.Scenario.Expect[r.Scheme.Name][r.Guard]
	fmt.Fprintf(w, "\n[%s] %s, scheme %s, guard %s\n", count, r.Scenario.Name, r.Scheme.Name, r.Guard)
	fmt.Fprintf(w, "  %s\n  source: %s\n", r.Scenario.About, r.Scenario.Source)
	r.Each = func(e chaos.Event) { fmt.Fprintf(w, "  %v\n", e) }

	result, err := live.Play(ctx, r)
	if err != nil {
		return report.Cell{}, report.Story{}, err
	}
	v := result.Verdict
	cell := report.Cell{
		World: "live", Scheme: r.Scheme.Name, Fault: r.Scenario.Name, Guard: r.Guard, Workload: "counter",
		Runs: 1, Overlaps: v.Overlaps, Corruptions: v.Corruptions, Refusals: v.Refusals,
		Expected: expected, Verdict: v.Outcome,
		Replay: fmt.Sprintf("make chaos NODES=%v SCENARIO=%s SCHEME=%s GUARD=%s", r.Kind, r.Scenario.Name, r.Scheme.Name, r.Guard),
	}
	if result.Err == nil {
		cell.Reached = 1
	}
	if result.Available {
		cell.Available = 1
	}
	verdict := "as expected"
	if v.Outcome != expected {
		verdict = fmt.Sprintf("EXPECTED %s", expected)
	}
	fmt.Fprintf(w, "  => %s, %s: %d inside twice, %d lost updates, %d stale writes accepted, %d refused\n",
		v.Outcome, verdict, v.Overlaps, v.LostUpdates, v.StaleWrites, v.Refusals)
	if result.Err != nil {
		fmt.Fprintf(w, "     not reached: %v\n", result.Err)
	}
	return cell, report.Tell(cell, r.Scenario.Name, r.Scenario.Source, r.Scenario.About, result.History), nil
}

// conclude prints the matrix, keeps what was found, and returns the status to end with.
func conclude(w io.Writer, results report.Results, stories []report.Story, planned int, folder string, err error) error {
	live := results.In("live")
	if len(live.Cells) > 0 {
		fmt.Fprintln(w)
		err = errors.Join(err, live.Terminal(w))
	}
	if len(results.Cells) > 0 {
		err = errors.Join(err, keep(folder, results, stories))
	}
	if err != nil {
		fmt.Fprintf(w, "\n%d of %d cells were played before the harness had to stop\n", len(live.Cells), planned)
		return err
	}
	fmt.Fprintf(w, "\n%d cells played, %d searched, in %.0f s; results in %s, and to look at in %s\n", planned, len(results.Cells)-planned,
		results.Meta.DurationS, filepath.Join(folder, resultsFile), filepath.Join(folder, pageFile))
	return exitWith(w, results)
}

// commit names the state of the project in the folder that this runs in, as far as git is there to tell.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	if changes, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changes) > 0 {
		name += "+changes"
	}
	return name
}
