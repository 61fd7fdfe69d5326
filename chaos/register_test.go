package chaos

import (
	"errors"
	"testing"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// op is an operation of a client with a token; a write puts back one more than the client's last read.
type op struct {
	client string
	token  redlock.Token
	write  bool
	stale  bool // wanted: refused
	lost   bool // wanted: accepted over a value not read
}

func TestGuards(t *testing.T) {
	pauseAfterWrite := []op{{"1", 1, false, false, false}, {"2", 2, false, false, false}, {"2", 2, true, false, false}}
	pauseBeforeWrite := []op{{"1", 1, false, false, false}, {"2", 2, false, false, false}}

	for _, test := range []struct {
		name  string
		guard Guard
		ops   []op
		value int
	}{
		{"nothing is checked", GuardNone, append(pauseAfterWrite[:3:3], op{"1", 1, true, false, true}), 1},
		{"a stale write is refused", GuardWrites, append(pauseAfterWrite[:3:3], op{"1", 1, true, true, false}), 1},
		{"writes alone let a stale write pass before the first newer one, and lose an update", GuardWrites,
			append(pauseBeforeWrite[:2:2], op{"1", 1, true, false, false}, op{"2", 2, true, false, true}), 1},
		{"a read announces its token", GuardAll,
			append(pauseBeforeWrite[:2:2], op{"1", 1, true, true, false}, op{"2", 2, true, false, false}), 1},
		{"a stale read is refused", GuardAll, append(pauseAfterWrite[:3:3], op{"1", 1, false, true, false}), 1},
		{"equal tokens pass: a token that repeats protects nothing", GuardAll,
			[]op{{"1", 1, false, false, false}, {"2", 1, false, false, false}, {"2", 1, true, false, false}, {"1", 1, true, false, true}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var events History
			r := NewRegister(test.guard, func(e Event) { events = append(events, e) })
			read := map[string]int{}
			for i, o := range test.ops {
				var err error
				if o.write {
					err = r.Write(o.client, o.token, read[o.client]+1)
				} else {
					read[o.client], err = r.Read(o.client, o.token)
				}
				if errors.Is(err, ErrStale) != o.stale || (err != nil) != o.stale {
					t.Errorf("operation %d: %v", i+1, err)
				}
				e := events[len(events)-1]
				if len(events) != i+1 || (e.Kind == Refused) != o.stale || e.Lost != o.lost {
					t.Errorf("operation %d is recorded as %+v", i+1, e)
				}
			}
			if r.Value() != test.value {
				t.Errorf("the value is %d, want %d", r.Value(), test.value)
			}
		})
	}
}
