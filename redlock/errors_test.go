package redlock_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A cause is a reason for one master not to grant.
type cause struct {
	begin, end func(t *testing.T, c *cluster, node int)
	says       string // in the master's NodeError
}

// do returns a function that has a master carry out a command.
func do(command string) func(t *testing.T, c *cluster, node int) {
	return func(t *testing.T, c *cluster, node int) {
		t.Helper()
		var words []any
		for _, word := range strings.Fields(command) {
			words = append(words, word)
		}
		must(t, c.eyes[node].Do(bounded(t), words...).Err())
	}
}

var causes = map[string]cause{
	"free":      {},
	"held":      {do("SET lock somebody"), do("DEL lock"), "holds another client's value"},
	"NOPERM":    {do("ACL SETUSER default -@scripting"), do("ACL SETUSER default +@all"), "NOPERM"},
	"OOM":       {do("CONFIG SET maxmemory 1"), do("CONFIG SET maxmemory 0"), "OOM"},
	"READONLY":  {do("REPLICAOF 127.0.0.1 1"), do("REPLICAOF NO ONE"), "READONLY"},
	"WRONGTYPE": {do("RPUSH lock 1"), do("DEL lock"), "WRONGTYPE"},
	"MISCONF": {
		func(t *testing.T, c *cluster, node int) {
			eye := c.eyes[node]
			must(t, os.Mkdir(dump(t, eye), 0o700)) // in the way of the file that is to be saved
			must(t, eye.ConfigSet(bounded(t), "save", "3600 1").Err())
			must(t, eye.BgSave(bounded(t)).Err())
			eventually(t, "saving fails", func() bool {
				return strings.Contains(eye.Info(bounded(t), "persistence").Val(), "rdb_last_bgsave_status:err")
			})
		},
		func(t *testing.T, c *cluster, node int) {
			must(t, c.eyes[node].ConfigSet(bounded(t), "save", "").Err())
			must(t, os.Remove(dump(t, c.eyes[node])))
		},
		"MISCONF",
	},
	"hung": {
		func(t *testing.T, c *cluster, node int) { c.in(t).pause(node) },
		func(t *testing.T, c *cluster, node int) { c.in(t).resume(node) },
		"i/o timeout",
	},
	"refused": {
		func(t *testing.T, c *cluster, node int) { must(t, c.nodes[node].Kill(bounded(t))) },
		func(t *testing.T, c *cluster, node int) { must(t, c.nodes[node].Restart(bounded(t))) },
		"", // a connection that is refused or, by an old one, lost
	},
}

// dump returns where a master saves its data.
func dump(t *testing.T, eye *redis.Client) string {
	t.Helper()
	dir, err := eye.ConfigGet(bounded(t), "dir").Result()
	must(t, err)
	return filepath.Join(dir["dir"], "dump.rdb")
}

// kindsOfError are what an error may be, one of them at a time.
var kindsOfError = []error{
	redlock.ErrHeld, redlock.ErrNoQuorum, redlock.ErrExpired, redlock.ErrLost, redlock.ErrReleased, redlock.ErrInvalid,
	context.DeadlineExceeded, context.Canceled,
}

// mustBeOnly wants an error to match one of all kinds.
func mustBeOnly(t *testing.T, err, want error) {
	t.Helper()
	mustBe(t, err, want)
	for _, kind := range kindsOfError {
		if kind != want && errors.Is(err, kind) {
			t.Errorf("%v matches %q, and %q too", err, want, kind)
		}
	}
}

// numbered are the names of masters whose clients do not tell their addresses.
var numbered = []string{"master 1", "master 2", "master 3", "master 4", "master 5"}

// mustCount wants a *QuorumError whose counts add up, with a reason for each master that did not grant.
func mustCount(t *testing.T, c *cluster, err error, op, name string) *redlock.QuorumError {
	t.Helper()
	var e *redlock.QuorumError
	if !errors.As(err, &e) {
		t.Fatalf("no *QuorumError: %v", err)
	}
	if e.Op != op || e.Name != name || e.Need != 3 {
		t.Errorf("%s %q needs %d: %v", e.Op, e.Name, e.Need, err)
	}
	if e.Won+e.Lost+e.Unknown != 5 {
		t.Errorf("%d, %d and %d are not 5: %v", e.Won, e.Lost, e.Unknown, err)
	}
	if reasons := e.Errors.WrappedErrors(); len(reasons) != 5-e.Won {
		t.Errorf("%d reasons for %d masters: %v", len(reasons), 5-e.Won, err)
	}
	var all *multierror.Error = e.Errors
	for _, reason := range all.Errors {
		var node *redlock.NodeError
		if !errors.As(reason, &node) || !errors.Is(err, reason) {
			t.Fatalf("no *NodeError: %v", reason)
		}
		if !slices.Contains(c.addrs(), node.Node) && !slices.Contains(numbered, node.Node) {
			t.Errorf("no such master: %q", node.Node)
		}
	}
	if text := err.Error(); !strings.Contains(text, op) || !strings.Contains(text, strconv.Quote(name)) {
		t.Errorf("it does not say what failed: %s", text)
	}
	return e
}

func TestEachCauseIsToldAndMakesOneKindOfError(t *testing.T) {
	c, ok := servers(t, 5)
	if !ok {
		return
	}
	for _, test := range []struct {
		masters string
		want    error
	}{
		{"held held free free free", nil},
		{"held held held free free", redlock.ErrHeld},
		{"held held held held held", redlock.ErrHeld},
		{"held held held hung hung", redlock.ErrHeld},
		{"held held held refused refused", redlock.ErrHeld},
		{"held refused refused free free", redlock.ErrHeld},
		{"held NOPERM OOM free free", redlock.ErrHeld},
		{"held held refused free free", redlock.ErrHeld},
		{"held held hung hung hung", redlock.ErrNoQuorum}, // although three masters do not grant before that is known
		{"held free refused refused hung", redlock.ErrNoQuorum},
		{"held NOPERM OOM READONLY free", redlock.ErrNoQuorum},
		{"hung hung hung free free", redlock.ErrNoQuorum},
		{"hung hung hung hung hung", redlock.ErrNoQuorum},
		{"refused refused refused free free", redlock.ErrNoQuorum},
		{"NOPERM NOPERM NOPERM free free", redlock.ErrNoQuorum},
		{"MISCONF MISCONF MISCONF free free", redlock.ErrNoQuorum},
		{"OOM OOM OOM free free", redlock.ErrNoQuorum},
		{"READONLY READONLY READONLY free free", redlock.ErrNoQuorum},
		{"WRONGTYPE WRONGTYPE WRONGTYPE free free", redlock.ErrNoQuorum},
		{"NOPERM OOM READONLY free free", redlock.ErrNoQuorum},
		{"MISCONF refused hung free free", redlock.ErrNoQuorum},
		{"NOPERM OOM free free free", nil},
		{"hung refused free free free", nil},
	} {
		t.Run(test.masters, func(t *testing.T) {
			c := c.in(t)
			client := newClient(t, c.warm(c.clients()), redlock.WithNodeTimeout(500*time.Millisecond))
			var each []cause
			for node, what := range strings.Fields(test.masters) {
				each = append(each, causes[what])
				if begin := each[node].begin; begin != nil {
					begin(t, c, node)
					t.Cleanup(func() { each[node].end(t, c, node) })
				}
			}
			l, err := client.TryAcquire(bounded(t), "lock")
			if test.want == nil {
				must(t, err)
				drop(t, l)
			} else {
				mustBeOnly(t, err, test.want)
				e := mustCount(t, c, err, "acquire", "lock")
				for node, what := range strings.Fields(test.masters) {
					reason := reasonOf(e, c.nodes[node].Addr())
					if (reason == nil) == (what != "free") && !isUnanswered(reason) {
						t.Errorf("master %d is %s: %v", node, what, reason)
					}
					if reason != nil && !isUnanswered(reason) && !strings.Contains(reason.Error(), each[node].says) {
						t.Errorf("master %d is %s: %v", node, what, reason)
					}
				}
			}
		})
	}
}

// reasonOf returns what a master is said to have failed for.
func reasonOf(e *redlock.QuorumError, addr string) error {
	for _, reason := range e.Errors.WrappedErrors() {
		var node *redlock.NodeError
		if errors.As(reason, &node) && node.Node == addr {
			return node.Err
		}
	}
	return nil
}

// isUnanswered reports whether a master had just not come to answer when the outcome was known.
func isUnanswered(reason error) bool {
	return reason != nil && strings.Contains(reason.Error(), "had not answered")
}

func TestAnAcquireThatRunsIntoTheCallersDeadlineSaysSoAndWhatTheLastAttemptFailedFor(t *testing.T) {
	for _, test := range []struct {
		spoil func(m *model)
		last  error
	}{
		{func(m *model) { m.put("lock", "somebody", 0, 1, 2) }, redlock.ErrHeld},
		{func(m *model) { m.fate = these(unheard, 0, 1, 2) }, redlock.ErrNoQuorum},
		{func(m *model) { m.before = func(redlock.Command) { m.clock.Advance(time.Hour) } }, redlock.ErrExpired},
	} {
		m := newModel(5)
		test.spoil(m)
		client := m.client(t)
		late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := client.Acquire(late, "lock") // waits by a clock that stands still
		mustBe(t, err, context.DeadlineExceeded, test.last)
		if !errors.As(err, new(*redlock.QuorumError)) {
			t.Errorf("no *QuorumError: %v", err)
		}

		gone, leave := context.WithCancel(t.Context())
		refused := redlock.WithTrace(&redlock.Trace{Refused: func(string, error) { leave() }})
		_, err = client.Acquire(gone, "lock", refused)
		mustBe(t, err, context.Canceled, test.last)
	}
}

func TestTheCauseOfACancelledContextIsTold(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOwn)
	_, err := client.TryAcquire(ctx, "lock")
	mustBe(t, err, context.Canceled, errOwn)
	_, err = client.Acquire(ctx, "lock")
	mustBe(t, err, context.Canceled, errOwn)
	if sent := m.commands(); len(sent) > 0 {
		t.Errorf("sent: %+v", sent)
	}
}

func TestARefusedConnectionIsRecognizable(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nobody := free.Addr().String()
	free.Close()
	client := newClient(t, clientsOf(t, []string{nobody}))
	_, err = client.TryAcquire(bounded(t), "lock")
	mustBeOnly(t, err, redlock.ErrNoQuorum)
	if !errors.As(err, new(*net.OpError)) || !strings.Contains(err.Error(), nobody) {
		t.Errorf("got %v", err)
	}
}

func TestAServersOwnErrorIsReachable(t *testing.T) {
	c := masters(t, 1)
	must(t, c.eyes[0].RPush(bounded(t), "lock", 1).Err())
	_, err := c.client().TryAcquire(bounded(t), "lock")
	var reply redis.Error
	if !errors.As(err, &reply) || !strings.Contains(reply.Error(), "WRONGTYPE") {
		t.Errorf("got %v", err)
	}
}
