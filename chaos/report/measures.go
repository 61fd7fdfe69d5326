package report

import "fmt"

// Measures are what a run measured of one scheme. What was not measured is zero.
type Measures struct {
	Scheme string `json:"scheme"`

	// How long it took to acquire a lock that nobody held, in milliseconds.
	AcquireP50MS float64 `json:"acquire_p50_ms"`
	AcquireP99MS float64 `json:"acquire_p99_ms"`
	AcquireN     int     `json:"acquire_n"` // acquisitions timed

	// Whether the lock could be had with so many masters down: none, one and so on.
	Down []Availability `json:"down,omitempty"`

	// FailoverMS is how long, in milliseconds, nobody could have the lock: from the death of a master to the first grant
	// after its replica had taken its place.
	FailoverMS float64 `json:"failover_ms,omitempty"`
}

// Availability is how many attempts to acquire were granted, of those made.
type Availability struct {
	Granted int `json:"granted"`
	Tried   int `json:"tried"`
}

const unmeasured = "not measured"

func (a Availability) String() string {
	if a.Tried == 0 {
		return unmeasured
	}
	return fmt.Sprintf("%d of %d", a.Granted, a.Tried)
}

// mostDown is with how many masters down the harness tries at most.
const mostDown = 3

// down is the availability with so many masters down; nothing tried if nobody looked.
func (m Measures) down(n int) Availability {
	if n < len(m.Down) {
		return m.Down[n]
	}
	return Availability{}
}

// measureHead and measureRow are the table of measures.
func measureHead() []string {
	head := []string{"scheme"}
	for n := range mostDown + 1 {
		head = append(head, fmt.Sprintf("granted, %d down", n))
	}
	return append(head, "without a lock after a fail-over", "acquire p50", "acquire p99", "timed")
}

func (m Measures) row() []string {
	row := []string{m.Scheme}
	for n := range mostDown + 1 {
		row = append(row, m.down(n).String())
	}
	failover := unmeasured
	if m.FailoverMS > 0 {
		failover = fmt.Sprintf("%.0f ms", m.FailoverMS)
	}
	row = append(row, failover)
	if m.AcquireN == 0 {
		return append(row, unmeasured, unmeasured, "0")
	}
	return append(row, fmt.Sprintf("%.2f ms", m.AcquireP50MS), fmt.Sprintf("%.2f ms", m.AcquireP99MS), fmt.Sprint(m.AcquireN))
}
