package redlock

import "time"

// Trace is a set of callbacks, each optional, that are called as things happen to a lock, as net/http/httptrace does
// for requests. They are called from the goroutine in which the thing happened, never under a mutex of this package;
// a callback that blocks holds that lock up. The undoing of a failed attempt shows in Refused and CleanedUp alone. Durations are by the client's clock.
type Trace struct {
	RoundStarted func(op Op, name string)                                          // a question goes out to the masters
	NodeAnswered func(op Op, name string, node int, took time.Duration, err error) // err nil: that master granted
	Granted      func(name string, token Token, took time.Duration)                // Acquire succeeded; took: its winning round
	Refused      func(name string, err error)                                      // one attempt to acquire failed
	Extended     func(name string, until time.Time)                                // a lease was prolonged
	ExtendFailed func(name string, err error)                                      // it was not; it may still be tried again
	Lost         func(name string, cause error)                                    // ErrExpired or ErrLost, once a lock
	Released     func(name string, held time.Duration, err error)                  // Release knows its outcome
	CleanedUp    func(name string, node int)                                       // a straggling master confirmed that our key is gone
}
