package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b6e7cabe/quorumlock/chaos/report"
	"github.com/b6e7cabe/quorumlock/chaos/scenarios"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the scenarios, the schemes and the faults",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintln(w, "Scenarios")
			for _, s := range scenarios.All() {
				names := slices.Sorted(maps.Keys(s.Expect))
				fmt.Fprintf(w, "  %s\n      %s\n      source: %s\n      schemes: %s\n", s.Name, s.About, s.Source, strings.Join(names, ", "))
			}
			fmt.Fprintln(w, "\nSchemes")
			for _, s := range schemes.All() {
				fmt.Fprintf(w, "  %-16s %s\n", s.Name, s.About)
			}
			fmt.Fprintln(w, "\nFaults to search with")
			for _, f := range sim.Faults() {
				fmt.Fprintf(w, "  %-22s %s\n", f.Name, f.About)
			}
			return nil
		},
	}
}

func reportCommand() *cobra.Command {
	var html string
	cmd := &cobra.Command{
		Use:   "report RESULTS.JSON",
		Short: "Print RESULTS.md, made from a results.json; or write the page",
		Example: `  chaos report out/results.json > RESULTS.md
  chaos report out/results.json --html report.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := report.Load(args[0])
			if err != nil {
				return err
			}
			if html == "" {
				return r.Markdown(cmd.OutOrStdout())
			}
			stories, err := storiesOf(args[0])
			if err != nil {
				return err
			}
			return report.SaveHTML(html, r, stories)
		},
	}
	cmd.Flags().StringVar(&html, "html", "", "write the page into this file instead, with the stories in the "+storiesFile+" beside the results, if it is there")
	return cmd
}
