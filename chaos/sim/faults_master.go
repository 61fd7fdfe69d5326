package sim

import (
	"fmt"
	"time"
)

// What befalls a master.

var masterHang = Fault{
	Name: "master-hang", About: "a master stops, and goes on later",
	Uses: []injection{hangs},
	Draw: func(d *drawing) { d.add("hang", d.node(), d.length()) },
}

var hangs = injection{"hang", true, length, func(w *World, _ *client, n *node, d time.Duration) string {
	w.kernel.pause(&n.host, d)
	return fmt.Sprintf("hangs for %v", d)
}}

var masterRestart = Fault{
	Name: "master-restart", About: "a master is killed and comes back with its data",
	Uses: []injection{cuts, restarts},
	Draw: func(d *drawing) {
		d.separate()
		d.add("restart", d.node(), 0)
	},
}

var restarts = injection{"restart", true, noAmount, func(_ *World, _ *client, n *node, _ time.Duration) string {
	n.boots++
	return "restarts with its data"
}}

var masterAmnesia = Fault{
	Name: "master-amnesia", About: "a master is killed and comes back empty",
	Uses: []injection{cuts, forgetsAll},
	Draw: func(d *drawing) {
		d.separate()
		d.add("amnesia", d.node(), 0)
	},
}

var forgetsAll = injection{"amnesia", true, noAmount, func(_ *World, _ *client, n *node, _ time.Duration) string {
	n.boots++
	clear(n.data)
	n.journal = nil
	return "restarts empty"
}}

var masterPowerLoss = Fault{
	Name: "master-power-loss", About: "a master loses power, and with it the last second of writes",
	Uses: []injection{cuts, forgetsLatest},
	Draw: func(d *drawing) {
		d.separate()
		d.add("forget", d.node(), time.Second)
	},
}

var failover = Fault{
	Name: "failover", About: "a master fails over to a replica that lags",
	Uses: []injection{cuts, forgetsLatest},
	Draw: func(d *drawing) {
		d.separate()
		d.add("forget", d.node(), time.Duration(1+d.IntN(600))*time.Millisecond)
	},
}

var forgetsLatest = injection{"forget", true, length, func(w *World, _ *client, n *node, d time.Duration) string {
	n.boots++
	n.forget(w.kernel.now - d)
	return fmt.Sprintf("comes back without the writes of the last %v", d)
}}

var masterClockForward = Fault{
	Name: "master-clock-forward", About: "a master's clock jumps ahead",
	Uses: []injection{cuts, stepsMasterClock},
	Draw: func(d *drawing) {
		d.separate()
		d.add("clock", d.node(), d.length())
	},
}

var masterClockBack = Fault{
	Name: "master-clock-back", About: "a master's clock jumps back",
	Uses: []injection{cuts, stepsMasterClock},
	Draw: func(d *drawing) {
		d.separate()
		d.add("clock", d.node(), -d.length())
	},
}

var stepsMasterClock = injection{"clock", true, step, func(_ *World, _ *client, n *node, d time.Duration) string {
	n.offset += d
	return fmt.Sprintf("its wall clock steps by %v", d)
}}

var eviction = Fault{
	Name: "eviction", About: "masters under memory pressure evict keys that expire",
	Uses: []injection{evicts},
	Draw: func(d *drawing) {
		for range 1 + d.IntN(d.masters) {
			d.add("evict", d.node(), 0)
		}
	},
}

var evicts = injection{"evict", true, noAmount, func(_ *World, _ *client, n *node, _ time.Duration) string {
	for key, e := range n.data {
		if e.expires != 0 {
			delete(n.data, key)
		}
	}
	return "evicts every key that expires"
}}
