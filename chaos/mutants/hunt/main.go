// Command hunt plays random schedules of package redlock's client in the simulator and holds what happens against the
// properties that the lock is to have. It stops at the first violation and prints one line: the property, how many
// schedules it took, the search, the seed, the plan, and what was seen, separated by tabs. Exit status: 0 nothing was
// found; 1 something was; 2 it was called wrongly. What happened in one schedule is told by
//
//	hunt -search NAME -seed SEED -schedules 1 -story
//
// The properties:
//
//	exclusion   no two clients are told at one time that they hold the lock
//	validity    no client is told so for longer, by its own clock, than a quorum of masters has granted, less the
//	            drift; nor beyond the limit of automatic extension; nor once a majority has answered that it has
//	            not the key; nor again once it was told the contrary
//	endurance   a lock that is extended automatically lasts as long as its holder works, while a majority of masters
//	            answers, and it is one that has the key
//	tokens      the fencing tokens of any two grants differ, and if one grant ended before the attempt that led to
//	            the other began, its token is smaller
//	damage      the guarded resource loses no update and accepts no stale write
//	refusals    it refuses nobody but those who were superseded
//	progress    nobody waits for ever, nor for long while the lock is free; after a crash, no longer than the TTL; nor
//	            for slow masters once a quorum has granted
//	tidiness    no key outlives its release, or the failure of the attempt that set it
//
// Which of them a search requires depends on its faults: masters that forget their keys break exclusion, as they must.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

func main() {
	os.Exit(run())
}

func run() int {
	schedules := flag.Int("schedules", 1000, "how many schedules to play of each search")
	first := flag.Uint64("seed", 0, "the seed of the first")
	only := flag.String("search", "", "only this search")
	property := flag.String("property", "", "only violations of this property")
	tell := flag.Bool("story", false, "tell what happened, step by step")
	flag.Parse()

	all := searches()
	if *only != "" {
		s, err := chaos.ByName("search", all, *only, func(s search) string { return s.name })
		if err != nil {
			fmt.Fprintln(os.Stderr, "hunt:", err)
			return 2
		}
		all = []search{s}
	}
	if *property != "" && !slices.Contains(properties, *property) {
		fmt.Fprintf(os.Stderr, "hunt: no property %q: there are %v\n", *property, properties)
		return 2
	}
	debug.SetGCPercent(400) // what a schedule allocates is soon garbage
	var runner sim.Runner
	defer runner.Close()
	played := 0
	for seed := *first; seed-*first < uint64(*schedules); seed++ {
		for _, s := range all {
			r := trial{search: s, only: *property}
			plan := s.plan(seed)
			o := runner.Run(r.scheme(), plan, nil)
			r.judge(o)
			played++
			if r.found == nil {
				continue
			}
			fmt.Printf("%s\t%d\t%s\t%d\t%v\t%s\n", r.found.property, played, s.name, seed, plan, r.found.what)
			if *tell {
				for _, e := range o.History {
					fmt.Println(e)
				}
			}
			return 1
		}
	}
	return 0
}
