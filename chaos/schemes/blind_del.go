package schemes

import "github.com/b6e7cabe/quorumlock/chaos"

// blindDel sets key and expiry in one command, and releases by DEL without a look at whose key it is. A holder that was
// slower than its lease deletes the lock of the next one, and lets a third in beside it: "Distributed locks with
// Redis", "Correct Implementation with a Single Instance", on why just DEL is not safe. It extends as blindly.
var blindDel = chaos.Scheme{
	Name:    "blind-del",
	About:   "one master: SET NX PX, released by DEL whoever holds it",
	Masters: 1,
	Open:    oneKey(steps{acquire: (*key).set, extend: (*key).pexpire, release: (*key).del}),
}
