package sim

import (
	"fmt"
	"time"
)

// What befalls a client.

var clientPause = Fault{
	Name: "client-pause", About: "a client, or two, stop for longer than the lease",
	Uses: []injection{pauses},
	Draw: func(d *drawing) {
		for range 1 + d.IntN(2) {
			d.add("pause", "", d.length())
		}
	},
}

var pauses = injection{"pause", false, length, func(w *World, c *client, _ *node, d time.Duration) string {
	w.kernel.pause(&c.host, d)
	return fmt.Sprintf("is stopped for %v", d)
}}

var clientCrash = Fault{
	Name: "client-crash", About: "a client dies",
	Uses: []injection{crashes},
	Draw: func(d *drawing) { d.add("crash", "", 0) },
}

var crashes = injection{"crash", false, noAmount, func(w *World, c *client, _ *node, _ time.Duration) string {
	w.kernel.crash(&c.host)
	return "dies"
}}

var clientClockBack = Fault{
	Name: "client-clock-back", About: "a client's wall clock steps back while it waits or holds, and the client pauses",
	Uses: []injection{stepsClientClock, pauses},
	Draw: func(d *drawing) {
		d.add("client-clock", "", -2*d.length())
		d.add("pause", "", d.length())
		// Both strike the same client at the same step: nothing else can show what the clock is for.
		last := len(d.plan.Faults) - 1
		d.plan.Faults[last].Client = d.plan.Faults[last-1].Client
		d.plan.Faults[last].Step = d.plan.Faults[last-1].Step
		if d.IntN(2) == 0 {
			d.add("pause", "", d.length())
		}
	},
}

var stepsClientClock = injection{"client-clock", false, step, func(_ *World, c *client, _ *node, d time.Duration) string {
	c.clock.offset += d
	return fmt.Sprintf("its wall clock steps by %v", d)
}}

var clientSlowClock = Fault{
	Name: "client-slow-clock", About: "a client's clocks run at half speed, and its work takes most of a lease",
	Uses: []injection{slows},
	Draw: func(d *drawing) {
		d.plan.Work = TTL * 3 / 4
		d.add("slow", "", TTL)
	},
}

var clientDrift = Fault{
	Name: "client-drift", About: "a client's clocks run slow by half a percent, and its work takes almost a lease",
	Uses: []injection{slows},
	Draw: func(d *drawing) {
		d.plan.Work = TTL*19/20 - time.Duration(d.IntN(20))*time.Millisecond // and what is left is enough to write and release
		d.add("slow", "", TTL/200)
	},
}

var slows = injection{"slow", false, length, func(_ *World, c *client, _ *node, d time.Duration) string {
	c.clock.setRate(float64(TTL) / float64(TTL+d))
	return fmt.Sprintf("its clocks take %v for what is %v, from here on", TTL+d, TTL)
}}
