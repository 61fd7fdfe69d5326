package sim

import (
	"strconv"
	"time"
)

// lostMemoryAndClock is the one double fault that tokens do not survive: a master comes back without its counters, and the
// client that then gets in through it proposes a token by a clock that has gone back.
var lostMemoryAndClock = Fault{
	Name:  "lost-memory-and-clock",
	About: "a master comes back empty, and a client's wall clock has gone back: together, tokens do not survive them",
	Uses:  []injection{cuts, stepsClientClock, forgetsAll},
	Draw: func(d *drawing) {
		d.separate()
		d.plan.Faults = append(d.plan.Faults, Injection{
			Client: strconv.Itoa(1 + d.IntN(d.plan.Clients)), Step: 1, Fault: "client-clock", Amount: -time.Hour,
		})
		d.add("amnesia", d.node(), 0)
	},
}
