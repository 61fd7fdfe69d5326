package live

import (
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// The harness and a client process talk in lines of JSON over the process' standard input and output: the setup first,
// then requests and their replies, one at a time.

// setup says who the client is.
type setup struct {
	Name     string
	Scheme   string
	Masters  []string // URLs, of proxies
	Resource string   // URL
	Lock     string
	TTL      time.Duration
}

// request asks the client for one step.
type request struct {
	Do       action
	Patience time.Duration `json:",omitempty"` // acquire
	At       chaos.Point   `json:",omitempty"` // acquire: where to wait for goOn
	Value    int           `json:",omitempty"` // write
	Shift    time.Duration `json:",omitempty"` // shiftClock
	Wall     time.Time     `json:",omitzero"`  // pinClock
}

type action string

const (
	doAcquire    action = "acquire"
	doGoOn       action = "goOn" // from the point at which an acquire waits
	doCheck      action = "check"
	doRead       action = "read"
	doWrite      action = "write"
	doRelease    action = "release"
	doShiftClock action = "shiftClock"
	doPinClock   action = "pinClock"
)

// reply is what came of it.
type reply struct {
	Grant     *chaos.Grant  `json:",omitempty"`
	At        chaos.Point   `json:",omitempty"` // the acquire waits there; its grant comes with the reply to goOn
	Remaining time.Duration `json:",omitempty"`
	Value     int           `json:",omitempty"`
	Stale     bool          `json:",omitempty"`
	Err       string        `json:",omitempty"`
}
