package sim

import (
	"runtime/debug"
	"testing"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/schemes"
)

// BenchmarkSchedules plays schedules of three clients of redlock on five masters, on all cores at once: schedules/s is
// what a search gets through on this machine, events/op how much happens in one.
func BenchmarkSchedules(b *testing.B) {
	scheme, err := schemes.ByName("redlock")
	if err != nil {
		b.Fatal(err)
	}
	fault, err := FaultByName("client-pause")
	if err != nil {
		b.Fatal(err)
	}
	cell := Cell{Scheme: scheme, Fault: fault, Guard: chaos.GuardAll, Workload: chaos.Counter}
	// As a search does: what a schedule allocates is soon garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	b.ReportAllocs()
	events := make(chan int, 1024)
	total := make(chan int)
	go func() {
		sum := 0
		for n := range events {
			sum += n
		}
		total <- sum
	}()
	b.RunParallel(func(pb *testing.PB) {
		var r Runner
		defer r.Close()
		sum := 0
		for seed := uint64(0); pb.Next(); seed++ {
			plan := cell.Draw(seed)
			plan.Clients, plan.Rounds, plan.Work = 3, 1, 0
			sum += r.Run(scheme, plan, nil).Events
		}
		events <- sum
	})
	close(events)
	b.ReportMetric(float64(<-total)/float64(b.N), "events/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
}
