// Package chaos is the vocabulary in which the breaking of locks is described: schemes, guards, faults, scenarios,
// histories. Its folders give the words a world: schemes has the locks, scenarios the arguments about them; sim searches for
// breaks in virtual time, live plays scenarios on real servers and processes; check makes a verdict of what happened,
// report writes it down.
//
// Two sentences hold everything together. A lease can always be lost while its holder sleeps; so the lock is an
// efficiency device, and the token checked by the resource is the correctness device. Scenarios show the first half
// under [GuardNone], and the second under [GuardAll].
//
// What a scenario does not show: that a lock holds whenever the scenario does not happen. A verdict speaks of the run
// that it was made from.
package chaos
