package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/chaos/check"
)

// Run is one scenario, for one scheme under one guard, on servers that are as good as new and with client processes of
// its own.
type Run struct {
	Pool     *Pool // to take the nodes from
	Scenario chaos.Scenario
	Scheme   chaos.Scheme
	Guard    chaos.Guard
	Each     func(chaos.Event) // is shown each event as it happens; may be nil
}

// Result is what came of a run.
type Result struct {
	History   chaos.History
	Verdict   check.Verdict
	Err       error // the step that did not come about: the run is not reached
	Available bool  // afterwards the lock could be had again
}

// Play carries out a run, ends its clients and gives its nodes back. The error is about the harness itself (no server could
// be started, a process would not end, ctx is over); a step of the scenario that did not come about is the result's.
func Play(ctx context.Context, r Run) (result Result, err error) {
	persistence := None
	if r.Scenario.Durable {
		persistence = AOFAlways
	}
	nodes, err := r.Pool.Take(ctx, r.Scheme.Masters, persistence)
	if err != nil {
		return Result{}, err
	}
	w := &world{
		ctx: ctx, start: time.Now(), scheme: r.Scheme, ttl: r.Scenario.TTL,
		pool: r.Pool, nodes: nodes, durable: r.Scenario.Durable, clients: map[int]*client{},
	}
	defer func() { err = errors.Join(err, w.close()) }()

	record := chaos.NewRecorder(w.Now, r.Each)
	w.resource, err = serveResource(chaos.NewRegister(r.Guard, record.Record))
	if err != nil {
		return Result{}, err
	}
	var masters []string
	for _, n := range nodes {
		masters = append(masters, n.Name())
	}
	stage := chaos.NewStage(w, record, r.Scenario.TTL, masters)
	r.Scenario.Play(stage)
	if ctx.Err() != nil {
		return Result{History: record.History()}, fmt.Errorf("%s: interrupted: %w", r.Scenario.Name, context.Cause(ctx))
	}

	result = Result{History: record.History(), Err: stage.Err()}
	result.Verdict = check.Judge(result.History, r.Guard, result.Err == nil)
	if result.Err == nil {
		result.Available, err = w.recovers()
	}
	return result, err
}
