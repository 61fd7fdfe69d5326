package sim

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// What follows is in docs/harness.md, to the letter, as the example of a new scheme and of a new fault.

var careless = chaos.Scheme{
	Name:    "careless",
	About:   "SET NX PX, and a DEL by whoever comes",
	Masters: 1,
	Open:    func(env chaos.Env) (chaos.Locker, error) { return carelessClient{env}, nil },
}

type carelessClient struct{ env chaos.Env }

func (c carelessClient) Acquire(ctx context.Context, name string) (chaos.Hold, error) {
	ttl := strconv.FormatInt(c.env.TTL.Milliseconds(), 10)
	_, ok, err := c.env.Plain.Do(ctx, 0, "SET", name, "taken", "NX", "PX", ttl)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, redlock.ErrHeld
	}
	return carelessHold{c.env, name}, nil
}

type carelessHold struct {
	env  chaos.Env
	name string
}

func (h carelessHold) Token() redlock.Token         { return 0 }
func (h carelessHold) Remaining() time.Duration     { return h.env.TTL }
func (h carelessHold) Extend(context.Context) error { return redlock.ErrExpired }
func (h carelessHold) Release(ctx context.Context) error {
	_, _, err := h.env.Plain.Do(ctx, 0, "DEL", h.name)
	return err
}

var masterFlushed = Fault{
	Name: "master-flushed", About: "somebody runs FLUSHALL on a master",
	Uses: []injection{flushes},
	Draw: func(d *drawing) { d.add("flush", d.node(), 0) },
}

var flushes = injection{"flush", true, noAmount, func(_ *World, _ *client, n *node, _ time.Duration) string {
	clear(n.data)
	return "is flushed"
}}

// End of what is in the page.

func TestThePageShowsWhatCompiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/harness.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for n, block := range strings.Split(string(page), "```go\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(string(source), block) {
			t.Errorf("example %d of docs/harness.md is not what is tested here:\n%s", n+1, block)
		}
	}
}

// A scheme and a fault that nothing else knows of are searched through as they are.
func TestTheExamplesOfThePageBreak(t *testing.T) {
	known := injections
	defer func() { injections = known }()
	injections = collect(append(Faults(), masterFlushed))
	c := Cells([]chaos.Scheme{careless}, []Fault{masterFlushed}, []chaos.Guard{chaos.GuardAll}, "")[0]
	if c.Expected != chaos.Unknown {
		t.Errorf("expected is %q", c.Expected)
	}
	found := c.Search(0, 1, 1000)
	if found.Worst == nil {
		t.Fatalf("no break in %d schedules", found.Runs)
	}
	t.Log(tell(c, *found.Worst))
}
