package sim

import "time"

// queue holds the events to come, the next one first: a binary heap, of values, so that to compare two of them follows no
// pointer and to keep one costs no allocation.
type queue []item

// item is where an event is, and when. At one time, what was planned first comes first.
type item struct {
	at    time.Duration
	order uint64
	event *event
}

func (a *item) before(b *item) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) push(x item) {
	h := append(*q, x)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
	*q = h
}

func (q *queue) pop() item {
	h := *q
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = item{}
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return top
}
