package sim

import (
	"fmt"
	"time"
)

// What befalls packets on their way.

var lateWrite = Fault{
	Name: "late-write", About: "a write is held up on its way to the resource",
	Uses: []injection{delaysWrite},
	Draw: func(d *drawing) { d.add("late-write", "", d.length()) },
}

var delaysWrite = injection{"late-write", false, length, func(_ *World, c *client, _ *node, d time.Duration) string {
	c.lateWrite = d
	return fmt.Sprintf("its next write is held up for %v", d)
}}

var latePackets = Fault{
	Name: "late-packets", About: "requests and replies are held up",
	Uses: []injection{delaysRequest, delaysReply},
	Draw: func(d *drawing) {
		for range 1 + d.IntN(5) {
			d.add([]string{"late-request", "late-reply"}[d.IntN(2)], d.node(), d.length())
		}
	},
}

var delaysRequest = injection{"late-request", true, length, func(w *World, c *client, n *node, d time.Duration) string {
	w.link(c, n).lateRequest = d
	return fmt.Sprintf("its next request from %s is held up for %v", c.name, d)
}}

var delaysReply = injection{"late-reply", true, length, func(w *World, c *client, n *node, d time.Duration) string {
	w.link(c, n).lateReply = d
	return fmt.Sprintf("its next reply to %s is held up for %v", c.name, d)
}}

var lostPackets = Fault{
	Name: "lost-packets", About: "requests and replies are lost",
	Uses: []injection{losesRequest, losesReply},
	Draw: func(d *drawing) {
		for range 1 + d.IntN(3) {
			d.add([]string{"lose-request", "lose-reply"}[d.IntN(2)], d.node(), 0)
		}
	},
}

var losesRequest = injection{"lose-request", true, noAmount, func(w *World, c *client, n *node, _ time.Duration) string {
	w.link(c, n).loseRequest = true
	return "its next request from " + c.name + " is lost"
}}

var losesReply = injection{"lose-reply", true, noAmount, func(w *World, c *client, n *node, _ time.Duration) string {
	w.link(c, n).loseReply = true
	return "its next reply to " + c.name + " is lost"
}}

// cuts separates clients, for the faults of masters: see separate.
var cuts = injection{"cut", true, noAmount, func(w *World, c *client, n *node, _ time.Duration) string {
	w.link(c, n).cut = true
	return cutOff + " " + n.name
}}

func (w *World) link(c *client, n *node) *link { return &c.links[n.name[0]-'A'] }
