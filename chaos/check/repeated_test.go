package check

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Two accounts of one damage: what the register knows of versions, and what the values alone tell.
func TestAnUpdateIsLostExactlyWhenAValueIsWrittenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, _ := someHistory(t)
		v := Judge(h, Terms{Guard: chaos.GuardNone, Reached: true})
		if (v.LostUpdates > 0) != (v.Repeated > 0) {
			t.Fatalf("%d lost updates, %d values written twice: %v", v.LostUpdates, v.Repeated, h)
		}
	})
}

// someHistory is what a register without a guard records of clients that read and write as they like.
func someHistory(t *rapid.T) (h chaos.History, initial int) {
	w := rapid.SampledFrom(chaos.Workloads()).Draw(t, "workload")
	initial = w.Initial(5)
	r := chaos.NewRegister(chaos.NewMemory(chaos.GuardNone, initial), func(e chaos.Event) { h = append(h, e) })
	seen := map[string]chaos.Snapshot{}
	for range rapid.IntRange(1, 20).Draw(t, "operations") {
		client := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "client")
		base, known := seen[client]
		if !known || rapid.Bool().Draw(t, "read") {
			seen[client], _ = r.Read(client, 0)
		} else if next, more := w.Next(base.Value); more {
			seen[client], _ = r.Write(client, 0, base, next)
		}
	}
	return h, initial
}
