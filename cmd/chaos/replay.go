package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/report"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// retold says which run to tell again.
type retold struct {
	plan                 string // the run itself
	from                 string // or a file of results that has it
	scheme, fault, guard string // of which cell
	seed                 uint64 // or the schedule of this seed
}

func replayCommand() *cobra.Command {
	var r retold
	cmd := &cobra.Command{
		Use:   "replay [PLAN]",
		Short: "Tell the story of one simulated run, step by step",
		Long: `Tell the story of one simulated run, step by step. A run is named by its plan, which is what chaos search
prints, in quotes: SCHEME FAULT GUARD WORKLOAD CLIENTSxROUNDS[xWORK] SEED, and the faults as
CLIENT@STEP:FAULT,MASTER,DURATION. Or by a cell: with --from, it is the break that a file of results has for
the cell; without, the schedule that a search draws for it from --seed.`,
		Example: `  chaos replay 'redlock client-pause none counter 2x1 15 2@7:pause,861ms'
  chaos replay --from out/results.json --scheme redlock --fault client-pause --guard none
  chaos replay --scheme redlock --fault client-pause --guard none --seed 15`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.plan = strings.Join(args, "")
			scheme, plan, err := r.find()
			if err != nil {
				return err
			}
			return sim.Tell(cmd.OutOrStdout(), scheme, plan)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.from, "from", "", "a file of results, as run and search write it")
	f.StringVar(&r.scheme, "scheme", "", "of the cell")
	f.StringVar(&r.fault, "fault", "", "of the cell")
	f.StringVar(&r.guard, "guard", "", "of the cell: none, writes, all, cas")
	f.Uint64Var(&r.seed, "seed", 0, "of the schedule")
	return cmd
}

// find returns the run that was asked for.
func (r retold) find() (chaos.Scheme, sim.Plan, error) {
	if r.plan != "" {
		if r.from != "" || r.scheme != "" || r.fault != "" || r.guard != "" {
			return chaos.Scheme{}, sim.Plan{}, errors.New("a plan says it all: the flags are for a cell")
		}
		return parse(r.plan)
	}
	cell, err := r.cell()
	switch {
	case err != nil:
		return chaos.Scheme{}, sim.Plan{}, fmt.Errorf("replay wants a plan, or a cell: %w", err)
	case r.from == "":
		return cell.Scheme, cell.Draw(r.seed), nil
	}
	results, err := report.Load(r.from)
	if err != nil {
		return chaos.Scheme{}, sim.Plan{}, err
	}
	i := slices.IndexFunc(results.Cells, func(c report.Cell) bool {
		return c.World == "sim" && c.Scheme == r.scheme && c.Fault == r.fault && string(c.Guard) == r.guard
	})
	if i < 0 {
		return chaos.Scheme{}, sim.Plan{}, fmt.Errorf("%s has no such cell", r.from)
	}
	_, plan, broke := strings.Cut(results.Cells[i].Replay, "PLAN='")
	if !broke {
		return chaos.Scheme{}, sim.Plan{}, fmt.Errorf("in %s that cell does not break: there is no story", r.from)
	}
	return parse(strings.TrimSuffix(plan, "'"))
}

func parse(text string) (chaos.Scheme, sim.Plan, error) {
	plan, err := sim.ParsePlan(text)
	if err != nil {
		return chaos.Scheme{}, plan, err
	}
	scheme, err := schemes.ByName(plan.Scheme)
	return scheme, plan, err
}

func (r retold) cell() (sim.Cell, error) {
	scheme, err1 := schemes.ByName(r.scheme)
	fault, err2 := sim.FaultByName(r.fault)
	guard, err3 := chaos.GuardByName(r.guard)
	return sim.Cell{Scheme: scheme, Fault: fault, Guard: guard}, errors.Join(err1, err2, err3)
}
