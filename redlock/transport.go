package redlock

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/quorum"
)

// transport is the [Masters] of real servers: an ordered queue for each, and one pipeline at a time on its way.
type transport struct {
	nodes []*node
	all   []int
}

// RedisMasters returns the [Masters] that [New] uses, for those who want to put something between: a simulation of
// faults, a measurement. It sends nothing. It fails with ErrInvalid.
func RedisMasters(clients []redis.UniversalClient) (Masters, error) {
	t := &transport{}
	for i, client := range clients {
		if isNil(client) {
			return nil, invalid("master %d of %d is nil", i+1, len(clients))
		}
		t.nodes = append(t.nodes, &node{name: nameOf(i, client), client: bounded(client)})
		t.all = append(t.all, i)
	}
	return t, nil
}

func (t *transport) Len() int                 { return len(t.nodes) }
func (t *transport) NodeName(node int) string { return t.nodes[node].name }

func (t *transport) Send(ctx context.Context, cmd Command) iter.Seq[Reply] {
	nodes := cmd.Nodes
	if nodes == nil {
		nodes = t.all
	}
	return func(yield func(Reply) bool) {
		deadline, call := time.Now().Add(cmd.Timeout), cmd.call()
		bound, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()

		answered := make([]bool, len(t.nodes))
		for _, reply := range quorum.Ask(bound, len(nodes), func(i int, answer func(Reply)) {
			t.nodes[nodes[i]].enqueue(&request{
				op: cmd.Op, call: call, timeout: cmd.Timeout, deadline: deadline,
				answer: func(r Reply) { r.Node = nodes[i]; answer(r) },
			})
		}) {
			answered[reply.Node] = true
			if !yield(reply) {
				return
			}
		}
		for _, i := range nodes {
			if answered[i] {
				continue
			}
			if ctx.Err() != nil || !yield(Reply{Node: i, Err: tooLate(cmd.Timeout)}) {
				return
			}
		}
	}
}

// tooLate is the error of a master that did not answer in time. It must not be mistaken for the end of a caller's
// context, so it is no context.DeadlineExceeded.
func tooLate(timeout time.Duration) error {
	return fmt.Errorf("no answer within %v: %w", timeout, os.ErrDeadlineExceeded)
}

// A node is one master and what waits for it.
type node struct {
	name   string
	client redis.UniversalClient

	mu    sync.Mutex
	queue []*request
	busy  bool // a drain is running
}

// A request is one command for one master.
type request struct {
	op       Op
	call     []any // EVALSHA and its arguments, shared with the requests to the other masters
	timeout  time.Duration
	deadline time.Time
	answer   func(Reply)
}

// dead reports whether it is too late to send it. A caller that has gone away is no reason: what it asked for reaches
// the slower masters too, or is undone there, in order.
func (r *request) dead() bool { return time.Now().After(r.deadline) }

// enqueue adds a request. While a stalled master blocks the drain, requests that are too late leave the queue here, so
// that it never holds more than what came within one node timeout.
func (n *node) enqueue(r *request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.queue) > 0 && n.queue[0].dead() {
		n.queue[0] = nil
		n.queue = n.queue[1:]
	}
	n.queue = append(n.queue, r)
	if !n.busy {
		n.busy = true
		go n.drain()
	}
}

const maxBatch = 128

// drain sends what waits, together, until nothing does. It is the node's only sender, which keeps the order, and it
// lives only while there is work.
func (n *node) drain() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.queue, n.busy = nil, false
			n.mu.Unlock()
			return
		}
		size := min(len(n.queue), maxBatch)
		batch := make([]*request, 0, size)
		for _, r := range n.queue[:size] {
			if !r.dead() {
				batch = append(batch, r)
			}
		}
		clear(n.queue[:size])
		n.queue = n.queue[size:]
		n.mu.Unlock()

		if len(batch) > 0 {
			n.exchange(batch)
		}
	}
}

// exchange sends a batch as one pipeline and answers each request.
//
// A master that does not know a script answers NOSCRIPT for each command of it. From the first such command on, the
// rest of the batch is sent again with the scripts' text: all of it, since a release that was carried out must still come
// after the acquire that was not. So commands may be carried out twice: a yes counts whichever answer it is, otherwise the
// second does, since an acquire that was refused before that release may be granted after it.
func (n *node) exchange(batch []*request) {
	last := batch[0].deadline
	for _, r := range batch {
		if r.deadline.After(last) {
			last = r.deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), last)
	defer cancel()

	replies := n.pipeline(ctx, batch, false)
	for i, reply := range replies {
		if reply.Err != nil && redis.HasErrorPrefix(reply.Err, "NOSCRIPT") {
			for j, again := range n.pipeline(ctx, batch[i:], true) {
				if first := &replies[i+j]; first.Err != nil || first.Status != Done {
					*first = again
				}
			}
			break
		}
	}
	for i, r := range batch {
		r.answer(replies[i])
	}
}

// pipeline sends a batch, by the names of its scripts or by their text.
func (n *node) pipeline(ctx context.Context, batch []*request, text bool) []Reply {
	pipe := n.client.Pipeline()
	cmds := make([]*redis.Cmd, len(batch))
	for i, r := range batch {
		call := r.call
		if text {
			call = slices.Concat([]any{"EVAL", scripts[r.op].text}, call[2:])
		}
		cmds[i] = redis.NewCmd(ctx, call...)
		pipe.Process(ctx, cmds[i])
	}
	_, err := pipe.Exec(ctx)
	replies := make([]Reply, len(batch))
	for i, cmd := range cmds {
		replies[i] = parse(cmd, err)
		if cause := replies[i].Err; errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, context.Canceled) {
			replies[i].Err = fmt.Errorf("%w (%v)", tooLate(batch[i].timeout), cause)
		}
	}
	return replies
}

// call returns the command as it is sent; scripts/prelude.lua says what its KEYS and ARGV are.
func (c Command) call() []any {
	return []any{
		"EVALSHA", scripts[c.Op].sha, 2,
		c.Name, c.Counter(),
		c.Value, strconv.FormatUint(uint64(c.Token), 10), c.TTL.Milliseconds(), c.Retention.Milliseconds(),
	}
}

// parse reads a script's {status, counter}.
func parse(cmd *redis.Cmd, pipelineErr error) Reply {
	if cmd.Err() == nil && cmd.Val() == nil && pipelineErr != nil {
		return Reply{Err: pipelineErr} // it never came to this command
	}
	pair, err := cmd.Slice()
	if err != nil {
		return Reply{Err: err}
	}
	if len(pair) == 2 {
		word, _ := pair[0].(string)
		digits, _ := pair[1].(string)
		counter, err := strconv.ParseUint(digits, 10, 64)
		for status := Done; status <= Ahead && err == nil; status++ {
			if status.String() == word {
				return Reply{Status: status, Counter: Token(counter)}
			}
		}
	}
	return Reply{Err: fmt.Errorf("unexpected reply %v", pair)}
}

// bounded makes a client keep the deadlines that it is given, where it can be made to. A *redis.Client is copied, with
// the same connections: its default is to ignore them, and to repeat a command whose reply was lost, after which a
// lock that was released looks as if it had expired. Other kinds are used as they are; the callers of Send are
// answered in time whatever a client does.
func bounded(client redis.UniversalClient) redis.UniversalClient {
	c, ok := client.(*redis.Client)
	if !ok {
		return client
	}
	c = c.WithTimeout(max(c.Options().ReadTimeout, 0))
	c.Options().ContextTimeoutEnabled = true
	c.Options().MaxRetries = 0
	return c
}

func nameOf(i int, client redis.UniversalClient) string {
	if c, ok := client.(*redis.Client); ok && c.Options().Addr != "" {
		return c.Options().Addr
	}
	return fmt.Sprintf("master %d", i+1)
}

// isNil reports whether v is nil, or a nil pointer in an interface.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	p := reflect.ValueOf(v)
	return p.Kind() == reflect.Pointer && p.IsNil()
}
