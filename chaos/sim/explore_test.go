package sim

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	var progress Progress
	for c, found := range SearchAll(t.Context(), Cells(schemes.All(), Faults(), chaos.Guards()), Budget{Schedules: n}, &progress) {
		line := fmt.Sprintf("%-16s %-22s %-6s", c.Scheme.Name, c.Fault.Name, c.Guard)
		if found.Worst != nil {
			o := Run(c.Scheme, *found.Worst, nil)
			t.Logf("%s BREAKS@%d len=%d dead=%d %v", line, found.Runs, len(Story(o.History)), o.Verdict.Deadlocks, found.Worst)
		} else {
			t.Logf("%s holds r=%d o=%d d=%d", line, found.Reached, found.Overlaps, found.Starved)
		}
	}
	t.Log(progress.Schedules.Load())
}
