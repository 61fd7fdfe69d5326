// Package clock says what time it is, and whose.
//
// A lease is a promise with a time limit, so a lock is only as good as the
// clock that its holder measures the limit with. This package gives a holder
// one that errs on the safe side, and gives a test the clocks that do not.
//
// # Two readings
//
// Go's own monotonic clock is CLOCK_MONOTONIC on Linux, and that stands still
// while the machine is suspended (golang/go issue 24595): a laptop or a virtual
// machine that slept for an hour wakes up, believes that no time has passed,
// and goes on writing under a lease that ended long ago. The wall clock knows
// of that hour, but anybody may set it. A [Reading] therefore holds both: the
// wall clock, and CLOCK_BOOTTIME, which nobody sets and which goes on during
// suspend. [Reading.Since] takes the larger of the two differences.
//
// # What is guaranteed
//
//   - A forward step of the wall clock, by a person, a time daemon or the
//     hypervisor, can only end a wait or a lease early. A backward step changes
//     nothing.
//   - On Linux the time that a machine was suspended counts. A wait that ended
//     during it is over within 100 ms after the machine runs again, and so is
//     one whose end the wall clock stepped over.
//   - No wait ends before its time has passed by at least one of the two clocks.
//   - A wait costs no goroutine, but for the caller's own in Sleep, and a clock
//     on which nobody waits costs nothing.
//
// # What is not
//
//   - A clock that runs slow. If both run at 90 % of true time, a lease is
//     believed for 11 % too long. That is what a lock's drift allowance is for,
//     and it helps as far as it goes. [Skewed] makes such a clock.
//   - A process that does not run. Between the look at the clock and the write
//     that relies on it the process may be stopped for any length of time, by
//     its garbage collector or by SIGSTOP, and no clock can tell it in time: see
//     "Protecting a resource with a lock" and "Making the lock safe with fencing"
//     in Kleppmann, "How to do distributed locking" (2016). A resource that must
//     not be written to by a late holder has to check a fencing token.
//   - A system without CLOCK_BOOTTIME (anything but Linux, here). The second
//     reading is then Go's monotonic clock, and suspend is seen by the wall
//     clock alone, if nobody set it back meanwhile.
//
// # Clocks for tests
//
// [Virtual] stands still until the test moves it. [Skewed] wraps another clock
// and makes it wrong: stepped, slow, fast or frozen. [Runtime] is made of
// package time alone, which is what testing/synctest can fake.
package clock
