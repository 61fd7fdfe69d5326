package sim

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// After a million schedules, of every scheme and fault in turn, no goroutine is left, and what is kept for the next
// schedule has not grown since the first tenth of them.
func TestAMillionSchedulesLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	cells := Cells(schemes.All(), Faults(), []chaos.Guard{chaos.GuardAll}, "")
	workers := runtime.GOMAXPROCS(0)
	runners := make([]Runner, workers)
	play := func(from, to int) {
		var group sync.WaitGroup
		for w := range runners {
			group.Go(func() {
				for i := from + w; i < to; i += workers {
					c := cells[i%len(cells)]
					runners[w].Run(c.Scheme, c.Draw(uint64(i)), nil)
				}
			})
		}
		group.Wait()
	}
	play(0, million/10)
	early := heap()
	play(million/10, million)
	late := heap()
	t.Logf("%d schedules: the heap has %d kB after a tenth of them, %d kB in the end", million, early>>10, late>>10)
	// A queue or a pool that grew with the schedules would be many times as large.
	if late > 2*early+1<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", early, late)
	}
	for i := range runners {
		runners[i].Close()
	}
	awaitGoroutines(t, before)
}

// heap is what is alive.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// awaitGoroutines waits until there are no more than before: one is counted until a moment after it has said that it is
// done.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}
