package sim

import (
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Expected is what a search must find; chaos.Unknown if the table has no row for the fault or no column for the scheme. A cell
// that breaks where it should hold is a bug in the lock or in the argument; one that holds where it should break was not
// searched for long enough, or is a bug in the harness.
func Expected(scheme, fault string, guard chaos.Guard) chaos.Outcome {
	lines := strings.Split(strings.TrimSpace(expected), "\n")
	column := slices.Index(strings.Fields(lines[0]), scheme)
	for _, line := range lines[1:] {
		if cells := strings.Fields(line); column > 0 && cells[0] == fault {
			if cells[column][slices.Index(chaos.Guards(), guard)] == 'B' {
				return chaos.Breaks
			}
			return chaos.Holds
		}
	}
	return chaos.Unknown
}

// One letter for each guard, none, writes, all, cas: B breaks, . holds. Guards that look at tokens save only schemes that
// have them, single and redlock; and single's token only while its one counter is not forgotten. The guard that looks at
// versions needs no lock, so what breaks under it is a lock that nobody gets any more. Some that are less plain:
//   - setnx never expires, so no pause can end its lease; whoever dies holding it, or loses the reply to it, blocks it for ever.
//   - single-watchdog holds a late write and a slow clock, because it goes on extending; a paused watchdog does not.
//   - client-drift: clocks that run slow by half a percent are what drift is given away for.
//   - redlock-naive asks one master after the other, and waits for those that are silent: where each client is cut off from
//     two masters, as in the faults of masters, two clients can keep each other out for as long as one cares to watch.
//   - redlock breaks without a guard where a lease ends under a sleeping holder, and where a master that two majorities
//     share forgets. The guard of all operations holds throughout, but for the one double fault that is documented: a
//     master has lost its memory, counters included, and the clock of the client that proposes the next token has gone back.
const expected = `
fault                  none  local-mutex  setnx  setnx-expire  blind-del  get-then-del  single  single-watchdog  redlock-naive  redlock  redlock-watchdog  single-failover
none                   BBB.  BBB.         ....   ....          ....       ....          ....    ....             ....           ....     ....              ....
client-pause           BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    BB..             BBB.           BB..     BB..              BB..
client-crash           BBB.  BBB.         BBBB   BBBB          ....       ....          ....    ....             ....           ....     ....              ....
client-clock-back      BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    BB..             BBB.           BB..     BB..              BB..
client-slow-clock      BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    ....             BBB.           BB..     ....              BB..
client-drift           BBB.  BBB.         ....   ....          ....       ....          ....    ....             ....           ....     ....              ....
late-write             BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    ....             BBB.           BB..     ....              BB..
late-packets           BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    BB..             ....           ....     ....              BB..
lost-packets           BBB.  BBB.         BBBB   BBBB          ....       ....          ....    ....             ....           ....     ....              ....
master-hang            BBB.  BBB.         ....   BBB.          BBB.       BBB.          ....    ....             ....           ....     ....              ....
master-restart         BBB.  BBB.         BBBB   BBBB          ....       ....          ....    ....             BBBB           ....     ....              ....
master-amnesia         BBB.  BBB.         BBB.   BBB.          BBB.       BBB.          BBB.    BBB.             BBBB           BB..     BB..              BBB.
master-power-loss      BBB.  BBB.         BBB.   BBB.          BBB.       BBB.          BBB.    BBB.             BBBB           BB..     BB..              BBB.
failover               BBB.  BBB.         BBBB   BBBB          BBB.       BBB.          BBB.    BBB.             BBBB           BB..     BB..              BBB.
master-clock-forward   BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    BB..             BBBB           BB..     BB..              BB..
master-clock-back      BBB.  BBB.         ....   ....          ....       ....          ....    ....             BBBB           ....     ....              ....
lost-memory-and-clock  BBB.  BBB.         BBB.   BBB.          BBB.       BBB.          BBB.    BBB.             BBBB           BBB.     BBB.              BBB.
eviction               BBB.  BBB.         ....   BBB.          BBB.       BBB.          BB..    BB..             BBB.           BB..     BB..              BB..
`
