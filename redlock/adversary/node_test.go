package adversary

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A flaw is what a model node leaves out of the scripts, to show that the proof needs it.
type flaw int

const (
	sound        flaw = iota
	noOwnerGuard      // confirm does not ask whether the lock still holds our value
	noCountGuard      // confirm does not ask whether the counter is above the token
	noCounting        // acquire does not count up: the counter only follows the proposals
)

func (f flaw) String() string {
	return [...]string{"sound", "without the owner guard", "without the counter guard", "without counting"}[f]
}

// A node is a model of one master and one lock: what redlock/scripts does, less the expiry of keys, which the adversary
// sees to, and less the bounds of a Lua number, which no schedule comes near.
type node struct {
	flaw    flaw
	holder  string // the lock's value; empty if there is no such key
	counter redlock.Token
}

func (n *node) run(cmd redlock.Command) (redlock.Status, redlock.Token) {
	free, ours := n.holder == "", n.holder == cmd.Value
	switch cmd.Op {
	case redlock.OpAcquire:
		if free {
			n.holder, ours = cmd.Value, true
			if n.flaw != noCounting {
				n.counter++
			}
			n.counter = max(n.counter, cmd.Token)
		}
	case redlock.OpConfirm:
		ours = ours || n.flaw == noOwnerGuard
		if ours && n.counter > cmd.Token && n.flaw != noCountGuard {
			return redlock.Ahead, n.counter
		}
		if ours {
			n.counter = cmd.Token
		}
	case redlock.OpRepair, redlock.OpExtend:
		if free && cmd.Op == redlock.OpRepair {
			n.holder, ours = cmd.Value, true
		}
		if ours {
			n.counter = max(n.counter, cmd.Token)
		}
	case redlock.OpRelease:
		if ours {
			n.holder = ""
			return redlock.Done, 0
		}
	}
	switch {
	case ours:
		return redlock.Done, n.counter
	case free:
		return redlock.Gone, 0
	}
	return redlock.Held, 0
}

// What the adversary finds or does not find says something of the scripts only if the model does what they do: here,
// for every command in every small state.
func TestTheAdversarysNodeAnswersAsTheScriptsDo(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	prelude, err := os.ReadFile("../scripts/prelude.lua")
	if err != nil {
		t.Fatal(err)
	}
	for op := redlock.OpAcquire; op <= redlock.OpRelease; op++ {
		script, err := os.ReadFile("../scripts/" + op.String() + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		for state := range 3 * 4 * 5 {
			n := &node{holder: []string{"", "ours", "another's"}[state%3], counter: redlock.Token(state / 3 % 4)}
			cmd := redlock.Command{Op: op, Name: "lock", Value: "ours", Token: redlock.Token(state / 3 / 4)}
			server.FlushAll()
			if n.holder != "" {
				server.Set(cmd.Name, n.holder)
			}
			if n.counter > 0 {
				server.Set(cmd.Counter(), strconv.Itoa(int(n.counter)))
			}
			before := fmt.Sprintf("%s %d of %q with counter %d", op, cmd.Token, n.holder, n.counter)

			reply, err := client.Eval(t.Context(), string(prelude)+string(script),
				[]string{cmd.Name, cmd.Counter()}, cmd.Value, int(cmd.Token), 10_000, 60_000).Slice()
			if err != nil {
				t.Fatalf("%s: %v", before, err)
			}
			holder, _ := server.Get(cmd.Name)
			counter, _ := server.Get(cmd.Counter())
			got := fmt.Sprint(reply, " leaves ", holder, " ", max(counter, "0"))

			status, count := n.run(cmd)
			if want := fmt.Sprint([]any{status, count}, " leaves ", n.holder, " ", n.counter); got != want {
				t.Errorf("%s: the script says %v, the model %v", before, got, want)
			}
		}
	}
}
