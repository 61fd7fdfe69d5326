package sim

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Cell is one combination to search through.
type Cell struct {
	Scheme   chaos.Scheme
	Fault    Fault
	Guard    chaos.Guard
	Workload chaos.Workload // "" for any
	Expected chaos.Outcome
}

// Cells returns the combinations of the given schemes, faults and guards, under one workload or, if it is empty, any.
func Cells(schemes []chaos.Scheme, faults []Fault, guards []chaos.Guard, workload chaos.Workload) []Cell {
	var cells []Cell
	for _, f := range faults {
		for _, s := range schemes {
			for _, g := range guards {
				if s.Name == "single-failover" && f.Name != "failover" {
					continue // it is single, and only that fault tells them apart
				}
				cells = append(cells, Cell{s, f, g, workload, Expected(s.Name, f.Name, g)})
			}
		}
	}
	return cells
}

// Budget bounds a search.
type Budget struct {
	Schedules int    // a cell that must hold
	Seed      uint64 // of the first schedule
	Shard     int    // of 0 .. Shards-1: which part of the schedules is ours
	Shards    int
}

// Progress is how far a search is.
type Progress struct {
	Cells, CellsDone atomic.Int64
	Schedules        atomic.Int64
}

// SearchAll searches through the cells, on all cores, and yields what it found in their order. It ends early, without
// the rest, when ctx ends.
func SearchAll(ctx context.Context, cells []Cell, b Budget, progress *Progress) iter.Seq2[Cell, Finding] {
	return func(yield func(Cell, Finding) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()
		progress.Cells.Store(int64(len(cells)))
		found := make([]chan Finding, len(cells))
		for i := range found {
			found[i] = make(chan Finding, 1)
		}
		var next atomic.Int64
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1) - 1)
					if i >= len(cells) {
						return
					}
					found[i] <- cells[i].searchAll(ctx, b, progress)
				}
			})
		}
		for i, cell := range cells {
			select {
			case f := <-found[i]:
				if ctx.Err() != nil || !yield(cell, f) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// searchAll plays this shard's schedules of a cell until one breaks. Where one must, it goes on ten times as long.
func (c Cell) searchAll(ctx context.Context, b Budget, progress *Progress) Finding {
	defer progress.CellsDone.Add(1)
	const slice = 256
	shards := uint64(max(b.Shards, 1))
	seed := b.Seed + uint64(b.Shard)
	var sum Finding
	schedules := b.Schedules
	if c.Expected == chaos.Breaks {
		schedules *= 10
	}
	for left := schedules; left > 0 && sum.badness < worst && ctx.Err() == nil; left -= slice {
		f := c.Search(seed, shards, min(slice, left))
		seed += slice * shards
		progress.Schedules.Add(int64(f.Runs))
		sum.add(f)
		if sum.badness > 0 {
			left = min(left, 2*slice) // something worse may be near
		}
	}
	return sum
}

func (f *Finding) add(g Finding) {
	f.Runs += g.Runs
	f.Events += g.Events
	f.Reached += g.Reached
	f.Overlaps += g.Overlaps
	f.Corruptions += g.Corruptions
	f.Refusals += g.Refusals
	f.Starved += g.Starved
	if g.badness > f.badness {
		f.Worst, f.badness = g.Worst, g.badness
	}
}

// Outcome is the verdict on a cell: what breaks once breaks, and what was never reached shows nothing.
func (f Finding) Outcome() chaos.Outcome {
	switch {
	case f.Worst != nil:
		return chaos.Breaks
	case f.Reached == 0:
		return chaos.Unreached
	}
	return chaos.Holds
}

// Replay is the command that tells a plan's story.
func (p Plan) Replay() string { return fmt.Sprintf("make replay PLAN='%v'", p) }
