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
		{"a version is good for one write, whatever the tokens are", GuardCAS,
			[]op{{"1", 2, false, false, false}, {"2", 1, false, false, false}, {"2", 1, true, false, false}, {"1", 2, true, true, false}}, 1},
		{"a mark is whoever read last, in no order", GuardMark,
			[]op{{"1", 2, false, false, false}, {"2", 1, false, false, false}, {"1", 2, true, true, false}, {"2", 1, true, false, false}}, 1},
		{"a mark that comes late evicts who is in the middle of it", GuardMark,
			[]op{{"2", 2, false, false, false}, {"2", 2, true, false, false}, {"1", 1, false, false, false}, {"2", 2, true, true, false}, {"1", 1, true, false, false}}, 2},
		{"equal tokens pass: a token that repeats protects nothing", GuardAll,
			[]op{{"1", 1, false, false, false}, {"2", 1, false, false, false}, {"2", 1, true, false, false}, {"1", 1, true, false, true}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var events History
			r := NewRegister(NewMemory(test.guard, 0), func(e Event) { events = append(events, e) })
			read := map[string]Snapshot{}
			value := 0
			for i, o := range test.ops {
				var err error
				if o.write {
					var now Snapshot
					now, err = r.Write(o.client, o.token, read[o.client], read[o.client].Value+1)
					if err == nil {
						value = now.Value
					}
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
			if value != test.value {
				t.Errorf("the value is %d, want %d", value, test.value)
			}
		})
	}
}

// broken is a store that has trouble of its own.
type broken struct{}

var errBroken = errors.New("the disk is full")

func (broken) Read(redlock.Token) (Snapshot, error)     { return Snapshot{}, errBroken }
func (broken) Write(redlock.Token, Snapshot, int) error { return errBroken }

func TestAStoresOwnTroubleIsNoRefusal(t *testing.T) {
	r := NewRegister(broken{}, func(e Event) { t.Errorf("recorded: %v", e) })
	if _, err := r.Read("1", 1); !errors.Is(err, errBroken) || errors.Is(err, ErrStale) {
		t.Errorf("read: %v", err)
	}
	if _, err := r.Write("1", 1, Snapshot{}, 1); !errors.Is(err, errBroken) || errors.Is(err, ErrStale) {
		t.Errorf("write: %v", err)
	}
}

func TestWorkloads(t *testing.T) {
	for _, w := range Workloads() {
		value, writes := w.Initial(3), 0
		for next, more := w.Next(value); more && writes < 5; next, more = w.Next(value) {
			if next == value {
				t.Fatalf("%s: %d follows itself", w, value)
			}
			value, writes = next, writes+1
		}
		if want := map[Workload]int{Counter: 5, Stock: 3, Append: 5}[w]; writes != want {
			t.Errorf("%s: %d writes, want %d", w, writes, want)
		}
	}
	if _, err := WorkloadByName("sums"); err == nil {
		t.Error("there is no workload sums")
	}
}
