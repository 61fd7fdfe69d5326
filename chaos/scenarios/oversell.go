package scenarios

import "github.com/b6e7cabe/quorumlock/chaos"

var oversell = chaos.Scenario{
	Name:     "oversell",
	Source:   "ours: more buyers than there are items in stock",
	About:    "4 shoppers want 220 of 100 items; one of them is stopped, before it writes, for longer than the lease",
	TTL:      lease,
	Workload: chaos.Stock,
	Items:    inStock,
	Expect: map[string]chaos.Expectation{
		"none":        chaos.TokensFail(),
		"local-mutex": chaos.TokensFail(),
		"single":      chaos.GuardsHold(),
		"redlock":     chaos.GuardsHold(),
	},
	Play: func(s *chaos.Stage) {
		first, others := s.Client(1), []*chaos.Actor{s.Client(2), s.Client(3), s.Client(4)}
		first.ShopAndStop(timesEach)
		for _, shopper := range others {
			shopper.Shop(timesEach)
		}
		s.Wait(2 * s.TTL)
		first.Continue()
		sold := first.Shopped()
		for _, shopper := range others {
			sold += shopper.Shopped()
		}
		s.Say("%d sales of %d items", sold, inStock)
	},
}

const (
	inStock   = 100
	timesEach = 55
)
