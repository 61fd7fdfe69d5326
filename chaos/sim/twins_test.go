package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/b6e7cabe/quorumlock/chaos/live"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// twins are a real master and a model of it. Their clocks show the same, but for what a question takes.
type twins struct {
	ctx     context.Context
	real    live.Node
	masters redlock.Masters
	client  *redis.Client
	began   time.Time // when the real one's clock, without its steps, showed the epoch
	model   *node     // whose offset is the steps
	keys    []string
}

// startReal starts a real master, until the test ends.
func startReal(t *testing.T, kind live.Kind) (live.Node, *redis.Client) {
	t.Helper()
	nodes, err := live.StartNodes(t.Context(), live.Config{Kind: kind, N: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{
		Addr:                     nodes[0].Addr(),
		ContextTimeoutEnabled:    true,
		MaxRetries:               -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), nodes[0].Close()); err != nil {
			t.Error(err)
		}
	})
	return nodes[0], client
}

// newTwins starts a real master and sets its clock to the epoch.
func newTwins(t *testing.T, kind live.Kind) *twins {
	t.Helper()
	w := &twins{ctx: t.Context(), model: &node{}}
	w.real, w.client = startReal(t, kind)
	var err error
	w.masters, err = redlock.RedisMasters([]redis.UniversalClient{w.client})
	if err == nil {
		err = w.toEpoch()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *twins) toEpoch() error {
	shown, err := w.real.Time(w.ctx)
	if err != nil {
		return err
	}
	if _, err := w.real.StepClock(w.ctx, epoch.Sub(shown)); err != nil {
		return err
	}
	shown, err = w.real.Time(w.ctx)
	w.began = time.Now().Add(epoch.Sub(shown))
	return err
}

// keysOf returns the locks and their counters.
func keysOf(locks []string) (keys []string) {
	for _, name := range locks {
		keys = append(keys, name, redlock.Command{Name: name}.Counter())
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// begin makes both empty and takes back the steps of the clock.
func (w *twins) begin(locks []string) error {
	if w.model.offset != 0 {
		if _, err := w.real.StepClock(w.ctx, -w.model.offset); err != nil {
			return err
		}
	}
	w.keys, w.model = keysOf(locks), &node{data: map[string]entry{}}
	return w.client.FlushAll(w.ctx).Err()
}

// now is what both clocks show.
func (w *twins) now() time.Time { return w.model.wall(time.Since(w.began)) }

// do has both carry out an action, and returns what each has answered and is left with. An error is none of the answers
// that a master gives.
func (w *twins) do(a action) (real, model string, err error) {
	switch {
	case a.step != 0:
		_, err = w.real.StepClock(w.ctx, a.step)
		if err == nil {
			w.model.offset += a.step
		}
	case a.plain != nil:
		real, err = w.plain(a.plain)
		model = showAnswer(w.model.do(a.plain, w.now()))
	default:
		real, model = w.lock(a.lock)
	}
	if err != nil {
		return real, model, err
	}
	left, err := w.left()
	return real + left, model + w.modelLeft(), err
}

func (w *twins) lock(cmd redlock.Command) (real, model string) {
	cmd.Timeout = 30 * time.Second // which nothing comes near
	var r redlock.Reply
	for r = range w.masters.Send(w.ctx, cmd) {
	}
	// A proposal that is too far ahead is answered by the node's clock and one hour, in microseconds. That tells at what
	// moment the node looked, and the model looks at the same.
	now := w.now()
	if looked := time.UnixMicro(int64(r.Counter)).Add(-time.Hour); looked.Sub(now).Abs() < time.Hour/4 {
		now = looked
	}
	return showReply(r), showReply(w.model.carryOut(&cmd, cmd.Counter(), now))
}

func showReply(r redlock.Reply) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return fmt.Sprintf("%s with counter %d", r.Status, r.Counter)
}

func (w *twins) plain(command []string) (string, error) {
	args := make([]any, len(command))
	for i, word := range command {
		args[i] = word
	}
	got, err := w.client.Do(w.ctx, args...).Result()
	var refusal redis.Error
	switch {
	case errors.Is(err, redis.Nil):
		return showAnswer(answer{}), nil
	case errors.As(err, &refusal):
		return showAnswer(answer{err: err}), nil
	}
	return showAnswer(answer{text: fmt.Sprint(got), ok: true}), err
}

func showAnswer(a answer) string {
	switch {
	case a.err != nil:
		return a.err.Error()
	case !a.ok:
		return "nil"
	}
	return strconv.Quote(a.text)
}

// left is what the real one has of the keys. Reading a key whose time is past also deletes it: otherwise it would still
// be there after a step back if the server had not yet come round to it, and that is a matter of milliseconds.
func (w *twins) left() (string, error) {
	pipe := w.client.Pipeline()
	values, lifetimes := make([]*redis.StringCmd, len(w.keys)), make([]*redis.Cmd, len(w.keys))
	for i, key := range w.keys {
		values[i], lifetimes[i] = pipe.Get(w.ctx, key), pipe.Do(w.ctx, "PTTL", key)
	}
	if _, err := pipe.Exec(w.ctx); err != nil && !errors.Is(err, redis.Nil) {
		return "", err
	}
	var b strings.Builder
	for i, key := range w.keys {
		ms, err := lifetimes[i].Int64()
		if err != nil {
			return "", err
		}
		if values[i].Err() == nil {
			showKey(&b, key, values[i].Val(), ms)
		}
	}
	return b.String(), nil
}

func (w *twins) modelLeft() string {
	var b strings.Builder
	now := w.now()
	for _, key := range w.keys {
		if e, ok := w.model.get(key, now); ok {
			ms := int64(-1)
			if e.expires != 0 {
				ms = e.expires - now.UnixMilli()
			}
			showKey(&b, key, e.value, ms)
		}
	}
	return b.String()
}

// showKey writes down a key with its lifetime, -1 if it has none, in whole hours: the rest is always about half an hour.
func showKey(b *strings.Builder, key, value string, ms int64) {
	fmt.Fprintf(b, "; %q holds %q", key, value)
	if ms >= 0 {
		fmt.Fprintf(b, " for %d h", ms/time.Hour.Milliseconds())
	}
}
