package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/report"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// hunt is what the flags of search ask for.
type hunt struct {
	scheme, fault, guard, shard, out string
	schedules                        int
	seed                             uint64
	time                             time.Duration

	told []report.Story // of what was found to break
}

func searchCommand() *cobra.Command {
	var h hunt
	cmd := &cobra.Command{
		Use:   "search",
		Short: "Search for breaks in a deterministic simulation",
		Long: `Search for breaks in a deterministic simulation: every scheme, under every kind of fault and every
guard, is played in virtual time with one random schedule after the other, until one breaks or the
schedules are used up. What is found is made short, and told by the command that is printed with it.`,
		Example: `  chaos search
  chaos search --scheme redlock --fault client-pause --guard none
  chaos search --schedules 1000000 --shard 0/4 --out shard0.json    # and so on, then: chaos merge`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cells, err := h.cells()
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			results, err := h.search(cmd.Context(), w, cells)
			return concludeSearch(w, results, len(cells), h.out, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&h.scheme, "scheme", "", "only this one (see chaos list)")
	f.StringVar(&h.fault, "fault", "", "only this one (see chaos list)")
	f.StringVar(&h.guard, "guard", "", "only this one: none, writes, all")
	f.IntVar(&h.schedules, "schedules", defaultSchedules, "how many schedules to try for each cell that must hold; one that must break gets ten times as many")
	f.DurationVar(&h.time, "time", 0, "stop after this time; 0 = when the schedules are used up")
	f.Uint64Var(&h.seed, "seed", 0, "the seed of the first schedule")
	f.StringVar(&h.shard, "shard", "0/1", "i/n: search only every n-th schedule, from the i-th, on one of n machines")
	f.StringVar(&h.out, "out", filepath.Join("out", "search.json"), "the file for the results")
	return cmd
}

// defaultSchedules fills the matrix in about a minute on two cores.
const defaultSchedules = 2500

func (h hunt) cells() ([]sim.Cell, error) {
	all, faults, guards := schemes.All(), sim.Faults(), chaos.Guards()
	if h.scheme != "" {
		one, err := schemes.ByName(h.scheme)
		if err != nil {
			return nil, err
		}
		all = []chaos.Scheme{one}
	}
	if h.fault != "" {
		one, err := sim.FaultByName(h.fault)
		if err != nil {
			return nil, err
		}
		faults = []sim.Fault{one}
	}
	if h.guard != "" {
		one, err := chaos.GuardByName(h.guard)
		if err != nil {
			return nil, err
		}
		guards = []chaos.Guard{one}
	}
	return sim.Cells(all, faults, guards), nil
}

// budget checks what the flags say of how much to search.
func (h hunt) budget() (sim.Budget, error) {
	b := sim.Budget{Schedules: h.schedules, Seed: h.seed}
	if h.schedules < 1 {
		return b, fmt.Errorf("%d schedules: want at least 1", h.schedules)
	}
	if _, err := fmt.Sscanf(h.shard, "%d/%d", &b.Shard, &b.Shards); err != nil || b.Shard < 0 || b.Shard >= b.Shards {
		return b, fmt.Errorf("shard %q: want i/n with i from 0 to n-1", h.shard)
	}
	return b, nil
}

// search goes through the cells, and shows how far it is.
func (h *hunt) search(ctx context.Context, w io.Writer, cells []sim.Cell) (report.Results, error) {
	results := report.Results{Meta: meta()}
	budget, err := h.budget()
	if err != nil {
		return results, err
	}
	if h.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.time)
		defer cancel()
	}
	// What a schedule allocates is soon garbage; collecting it less often is a third faster.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var progress sim.Progress
	bar := startBar(w, &progress)
	defer bar.stop()
	for cell, found := range sim.SearchAll(ctx, cells, budget, &progress) {
		results.Cells = append(results.Cells, cellOf(cell, found))
		if story, ok := tellBreak(cell, found); ok {
			h.told = append(h.told, story)
		}
	}
	results.Meta.DurationS = time.Since(results.Meta.Started).Seconds()
	if len(results.Cells) < len(cells) {
		return results, fmt.Errorf("the search ended early: %w", context.Cause(ctx))
	}
	return results, nil
}

func cellOf(c sim.Cell, f sim.Finding) report.Cell {
	cell := report.Cell{
		World: "sim", Scheme: c.Scheme.Name, Fault: c.Fault.Name, Guard: c.Guard, Workload: "counter",
		Runs: f.Runs, Overlaps: f.Overlaps, Corruptions: f.Corruptions, Refusals: f.Refusals,
		Reached: f.Reached, Available: f.Runs - f.Starved, Expected: c.Expected, Verdict: f.Outcome(),
		Replay: fmt.Sprintf("make search SCHEME=%s FAULT=%s GUARD=%s", c.Scheme.Name, c.Fault.Name, c.Guard),
	}
	if f.Worst != nil {
		cell.Seed, cell.Replay = f.Worst.Seed, f.Worst.Replay()
	}
	return cell
}

// meta describes this run.
func meta() report.Meta {
	return report.Meta{Commit: commit(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Started: time.Now().UTC().Truncate(time.Millisecond)}
}

// concludeSearch prints the matrix, saves the results, and returns the status to end with.
func concludeSearch(w io.Writer, results report.Results, planned int, path string, err error) error {
	if len(results.Cells) > 0 {
		fmt.Fprintln(w)
		if e := results.Terminal(w); e != nil {
			return e
		}
		if e := results.Save(path); e != nil {
			return e
		}
	}
	if err != nil {
		fmt.Fprintf(w, "\n%d of %d cells were searched\n", len(results.Cells), planned)
		return err
	}
	runs := 0
	for _, c := range results.Cells {
		runs += c.Runs
	}
	fmt.Fprintf(w, "\n%d schedules in %.0f s; every break with the command that tells its story: %s\n", runs, results.Meta.DurationS, path)
	return exitWith(w, results)
}

// exitWith names what was not expected, and returns the status that it amounts to.
func exitWith(w io.Writer, results report.Results) error {
	for _, c := range results.Unexpected() {
		fmt.Fprintf(w, "%s, %s, guard %s: %s, expected %s; again: %s\n", c.Scheme, c.Fault, c.Guard, c.Verdict, c.Expected, c.Replay)
	}
	if code := results.Exit(); code != asExpected {
		return status(code)
	}
	return nil
}

func mergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "merge RESULTS.JSON ...",
		Short:   "Merge the results of shards",
		Example: "  chaos merge shard0.json shard1.json --out merged.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var merged report.Results
			for i, path := range args {
				r, err := report.Load(path)
				if err != nil {
					return err
				}
				if i == 0 {
					merged.Meta = r.Meta
				}
				merged.Add(r)
			}
			return concludeSearch(cmd.OutOrStdout(), merged, len(merged.Cells), out, nil)
		},
	}
	cmd.Flags().StringVar(&out, "out", filepath.Join("out", "search.json"), "the file for the merged results")
	return cmd
}

func replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay PLAN",
		Short: "Tell the story of one simulated run, step by step",
		Long: `Tell the story of one simulated run, step by step. A plan is what chaos search prints, in quotes:
SCHEME FAULT GUARD CLIENTSxROUNDS SEED, and the faults as CLIENT@STEP:FAULT,MASTER,DURATION.`,
		Example: "  chaos replay 'redlock client-pause none 2x1 15 2@7:pause,861ms'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := sim.ParsePlan(args[0])
			if err != nil {
				return err
			}
			scheme, err := schemes.ByName(plan.Scheme)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			o := sim.Run(scheme, plan, nil)
			for i, e := range sim.Story(o.History) {
				fmt.Fprintf(w, "%3d %v\n", i+1, e)
			}
			v := o.Verdict
			fmt.Fprintf(w, "=> %s: %d inside twice, %d lost updates, %d stale writes accepted, %d refused, %d gave up waiting\n",
				v.Outcome, v.Overlaps, v.LostUpdates, v.StaleWrites, v.Refusals, v.Deadlocks)
			return nil
		},
	}
}

// bar shows how far a search is: in place on a terminal, now and then a line elsewhere.
type bar struct {
	quit, done chan struct{}
}

func startBar(w io.Writer, p *sim.Progress) *bar {
	b := &bar{make(chan struct{}), make(chan struct{})}
	every, begin, end := 10*time.Second, "", "\n"
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			every, begin, end = 200*time.Millisecond, "\r\033[K", ""
		}
	}
	start := time.Now()
	go func() {
		defer close(b.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprint(w, begin, line(p, time.Since(start)), end)
			case <-b.quit:
				fmt.Fprint(w, begin)
				return
			}
		}
	}()
	return b
}

func (b *bar) stop() {
	close(b.quit)
	<-b.done
}

// line says what is done, how fast it goes, and how long the rest will take if it goes on like that.
func line(p *sim.Progress, took time.Duration) string {
	done, all, n := p.CellsDone.Load(), p.Cells.Load(), p.Schedules.Load()
	left := "?"
	if done > 0 {
		left = (took * time.Duration(all-done) / time.Duration(done)).Round(time.Second).String()
	}
	return fmt.Sprintf("search: %d of %d cells, %d schedules, %.0f a second, about %s left", done, all, n, float64(n)/took.Seconds(), left)
}
