// Package quorum counts votes, and asks many voters at once.
//
// # The whole idea
//
// Two majorities of the same voters have a voter in common. Out of 5, any two
// sets of 3 share at least 3 + 3 - 5 = 1. So if a voter says yes to only one
// side at a time, two sides cannot both have a majority; and what the one has
// left with its majority, at least one member of every later majority knows of.
// Everything that a lock over several masters promises rests on that one voter.
//
// Counts for quorums of the smallest size, [Majority]:
//
//	voters   quorum   may fail   any two share, at least
//	   1        1         0        1
//	   2        2         0        2
//	   3        2         1        1
//	   4        3         1        2
//	   5        3         2        1
//	   7        4         3        1
//
// A fourth voter thus buys no further failure that may be survived over three,
// but a second common voter: it takes two that forget, not one, before two
// quorums miss each other. [Intersection] has the count for sets of any size: a
// quorum of 3 out of 5 meets a set of all 5 in 3 voters, any two of which may
// forget.
//
// # What is guaranteed
//
// The arithmetic, and that a voter counts once. A [Tally] that is won or lost
// stays so whatever comes later, and is so at the first vote that settles it:
// nobody has to wait for the slowest voter. [Ask] yields every answer exactly
// once, in order of arrival, and leaves no goroutine behind.
//
// # What is not
//
// That the voters are who they are taken for. The intersection is one of sets
// of voters, so all sides must mean the same n voters and the same quorum, no
// voter may be listed twice, and a voter must remember its vote for as long as
// it matters: one that forgets is a new voter under an old name.
//
// The package knows nothing of Redis, networks or clocks.
package quorum
