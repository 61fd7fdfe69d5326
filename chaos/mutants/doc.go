// Package mutants holds the simulator to its word: a search that finds nothing shows something only if it would have
// found a bug. So here are bugs, each a small change to the text of one source file, and each must be caught.
//
// The project's own code has no switches for them. A mutant is applied by the -overlay flag of go build, which compiles
// the changed text in place of the file while nothing in the tree changes; what is built is the program hunt, which
// plays schedules until a property is violated. The test has the table: which property caught each mutant, after how
// many schedules, in which search.
//
//	go test -v ./chaos/mutants
//
// What it shows: the properties in hunt, and the schedules that it draws, are strong enough for these bugs; and the
// client as it is passes as many schedules as each of them was given.
//
// What it does not show: that other bugs are caught. The simulator's client never cancels a context, takes no lock
// twice, and gets each answer once, so bugs in those paths are for the tests of package redlock. A bug in a Lua script
// is seeded into chaos/sim/node.go, the simulator's model of a master; that the model answers as the scripts do on a
// real server is for the conformance tests of package sim. And where two checks guard the same thing, the loss of one
// is not seen.
package mutants
