package schemes

import "github.com/b6e7cabe/quorumlock/chaos"

// singleFailover is single on a master that has a replica, to which the address moves when the master dies. For the
// client nothing is different: which server answers is decided elsewhere. Replication is asynchronous, so a replica that
// is promoted before it has heard of the lock grants it again ("Distributed locks with Redis", "Why Failover-based
// Implementations Are Not Enough"); and as it has not heard of the counter either, the second holder may get the token
// of the first, against which no guard helps.
var singleFailover = chaos.Scheme{
	Name:    "single-failover",
	About:   "single, on a master that fails over to a replica: locks and counters not yet copied are forgotten",
	Masters: 1,
	Open:    openSingle,
}
