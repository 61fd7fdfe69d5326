// Package sim is a deterministic world in virtual time, in which the real clients run by the thousand: package redlock,
// unchanged, and the other schemes, over simulated masters, a simulated network, and clocks that are wrong on purpose.
//
// There is one event loop. A process of a client is a coroutine that hands control to the loop whenever it waits, and the
// clients wait only in redlock.Masters, chaos.Plain and clock.Clock; so nothing is concurrent, no real time passes, and a
// plan ([Plan], which fits on a line) determines the run to the letter, on any machine.
//
// [Search] plays one plan after the other for a scheme, a kind of fault and a guard, until one breaks; then it leaves out
// whatever the plan breaks without, so that the story that is left reads like the lists in the articles. [Expected] says
// where a break must be found, and where none may be.
//
// [Play] plays a scenario instead: the script that is played on real servers, in a world of this kind, as a process of the
// same event loop.
//
// # What a search shows
//
// A break is a proof: its plan can be played again. That none was found is not: it says that so many schedules, drawn as
// [Fault] draws them, did not break. The world is a model. Its masters are held to real ones by a test that sends the same
// commands to both; its network keeps the order of a connection, but for packets that a fault delays, which may come late
// over a connection that was given up; its clients do nothing in no time, except where they wait or are stopped.
package sim
