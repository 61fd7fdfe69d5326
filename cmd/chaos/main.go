// Command chaos shows, on real servers and processes, where each kind of Redis lock breaks, and that fencing tokens
// hold where locks do not.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/b6e7cabe/quorumlock/chaos/live"
)

// The exit statuses. 0 to 2 are about the locks, the last is about the harness.
const (
	asExpected = 0
	unexpected = 1
	unreached  = 2
	failed     = 3
)

// status is an error that only carries an exit status: everything has been said.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func main() {
	live.BeClient()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:   "chaos",
		Short: "Show where Redis locks break, and that fencing tokens hold",
		Long: `Show where each kind of Redis lock breaks, and that fencing tokens hold where locks do not.

Exit status: 0 everything as expected; 1 damage under a guard that should hold, or none where it must
appear; 2 a run did not get to the state that it is about, so it shows nothing; 3 the harness itself
failed, was interrupted, or was called wrongly.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(), searchCommand(), replayCommand(), mergeCommand(), listCommand(), reportCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var s status
	switch {
	case err == nil:
		return asExpected
	case errors.As(err, &s):
		return int(s)
	}
	fmt.Fprintln(os.Stderr, "chaos:", err)
	return failed
}
