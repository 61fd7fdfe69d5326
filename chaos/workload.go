package chaos

// A Workload is what clients do to the resource while they hold the lock: they read a number, and write back what it
// says comes next. So the damage is the same in all of them, and what it means is not: a number that is written twice is
// an increment lost, an item sold twice, a record overwritten.
type Workload string

const (
	// Counter adds one: increments that were acknowledged must be in the final value.
	Counter Workload = "counter"
	// Stock takes one of the items that are left, until none is: no item may be sold twice.
	Stock Workload = "stock"
	// Append writes a record behind those that it has seen: every record that was acknowledged must be there.
	Append Workload = "append"
)

// Workloads are all workloads.
func Workloads() []Workload { return []Workload{Counter, Stock, Append} }

// WorkloadByName returns one workload.
func WorkloadByName(name string) (Workload, error) {
	return ByName("workload", Workloads(), name, func(w Workload) string { return string(w) })
}

// Initial is what the resource holds before anybody has written, if there are so many items in stock.
func (w Workload) Initial(items int) int {
	if w == Stock {
		return items
	}
	return 0
}

// Next is what a client writes that has read a value; false if there is nothing to do any more.
func (w Workload) Next(value int) (next int, ok bool) {
	if w == Stock {
		return value - 1, value > 0
	}
	return value + 1, true
}

// Means says what the numbers are, for a reader of the story.
func (w Workload) Means() string {
	switch w {
	case Stock:
		return "the number is that of the items left, and a buyer writes one less"
	case Append:
		return "the number is that of the records, and a writer puts its own behind those that it has seen"
	}
	return "the number is a counter, and a client writes one more than it has read"
}
