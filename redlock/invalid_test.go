package redlock_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/redlock"
)

// mustRefuse wants ErrInvalid, with a text that names what is wrong.
func mustRefuse(t *testing.T, err error, says string) {
	t.Helper()
	mustBeOnly(t, err, redlock.ErrInvalid)
	if !strings.Contains(err.Error(), says) {
		t.Errorf("%q does not say %q", err, says)
	}
}

var invalidOptions = map[string]struct {
	opts []redlock.Option
	says string
}{
	"option that is none":       {[]redlock.Option{{}}, "Option"},
	"TTL of 0":                  {[]redlock.Option{redlock.WithTTL(0)}, "TTL 0s"},
	"negative TTL":              {[]redlock.Option{redlock.WithTTL(-time.Second)}, "TTL -1s"},
	"TTL of 500 us":             {[]redlock.Option{redlock.WithTTL(500 * time.Microsecond)}, "TTL 0s"},
	"TTL of 9 ms":               {[]redlock.Option{redlock.WithTTL(9 * time.Millisecond)}, "TTL 9ms"},
	"TTL of two years":          {[]redlock.Option{redlock.WithTTL(2 * redlock.MaxTTL)}, "TTL 17520h"},
	"largest TTL":               {[]redlock.Option{redlock.WithTTL(math.MaxInt64)}, "TTL 2562047h"},
	"node timeout of 0":         {[]redlock.Option{redlock.WithNodeTimeout(0)}, "node timeout 0s"},
	"negative node timeout":     {[]redlock.Option{redlock.WithNodeTimeout(-time.Second)}, "node timeout -1s"},
	"TTL of one node timeout":   {[]redlock.Option{redlock.WithNodeTimeout(10 * time.Second)}, "node timeout 10s"},
	"TTL below node timeout":    {[]redlock.Option{redlock.WithNodeTimeout(11 * time.Second)}, "node timeout 11s"},
	"drift of NaN":              {[]redlock.Option{redlock.WithDriftFactor(math.NaN())}, "drift factor NaN"},
	"negative drift":            {[]redlock.Option{redlock.WithDriftFactor(-0.1)}, "drift factor -0.1"},
	"drift of 1":                {[]redlock.Option{redlock.WithDriftFactor(1)}, "drift factor 1"},
	"infinite drift":            {[]redlock.Option{redlock.WithDriftFactor(math.Inf(1))}, "drift factor +Inf"},
	"drift that leaves nothing": {[]redlock.Option{redlock.WithDriftFactor(0.9999)}, "drift of"},
	"retry of 0":                {[]redlock.Option{redlock.WithRetry(0, time.Second)}, "retry between 0s"},
	"negative retry":            {[]redlock.Option{redlock.WithRetry(-1, time.Second)}, "retry between -1ns"},
	"retry max below min":       {[]redlock.Option{redlock.WithRetry(2*time.Second, time.Second)}, "retry between 2s and 1s"},
	"extension below TTL":       {[]redlock.Option{redlock.WithAutoExtend(9 * time.Second)}, "auto-extend limit 9s"},
	"extension of 0":            {[]redlock.Option{redlock.WithAutoExtend(0)}, "auto-extend limit 0s"},
	"retention below two TTLs":  {[]redlock.Option{redlock.WithFenceRetention(19 * time.Second)}, "fence retention 19s"},
	"retention of 500 us":       {[]redlock.Option{redlock.WithFenceRetention(500 * time.Microsecond)}, "fence retention 500µs"},
	"negative retention":        {[]redlock.Option{redlock.WithFenceRetention(-time.Hour)}, "fence retention -1h"},
	"negative small retention":  {[]redlock.Option{redlock.WithFenceRetention(-1)}, "fence retention -1ns"},
	"nil trace":                 {[]redlock.Option{redlock.WithTrace(nil)}, "trace is nil"},
}

var invalidOptionsOfAClient = map[string]struct {
	opt  redlock.Option
	says string
}{
	"quorum of 0":          {redlock.WithQuorum(0), "quorum of 0"},
	"negative quorum":      {redlock.WithQuorum(-1), "quorum of -1"},
	"quorum of 2 out of 5": {redlock.WithQuorum(2), "quorum of 2 out of 5"},
	"quorum of 6 out of 5": {redlock.WithQuorum(6), "quorum of 6 out of 5"},
	"nil clock":            {redlock.WithClock(nil), "clock is nil"},
	"typed nil clock":      {redlock.WithClock((*clock.Virtual)(nil)), "clock is nil"},
	"nil random":           {redlock.WithRandom(nil), "randomness is nil"},
	"typed nil random":     {redlock.WithRandom((*strings.Reader)(nil)), "randomness is nil"},
}

var invalidNames = map[string]string{
	"":                       "empty",
	strings.Repeat("x", 513): "513 bytes",
	strings.Repeat("ä", 257): "514 bytes",
	"lock:fence":             `"lock:fence"`,
	"{lock}:fence":           `"{lock}:fence"`,
	":fence":                 `":fence"`,
}

func TestBadOptionsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	for what, test := range invalidOptions {
		t.Run(what, func(t *testing.T) {
			_, err := redlock.NewOver(m, test.opts...)
			mustRefuse(t, err, test.says)
			_, err = redlock.New(clientsOf(t, []string{"127.0.0.1:1"}), test.opts...)
			mustRefuse(t, err, test.says)
			_, err = redlock.Connect(t.Context(), []string{"redis://127.0.0.1:1"}, test.opts...)
			mustRefuse(t, err, test.says)
			_, err = client.Acquire(t.Context(), "lock", test.opts...)
			mustRefuse(t, err, test.says)
			_, err = client.TryAcquire(t.Context(), "lock", test.opts...)
			mustRefuse(t, err, test.says)
			mustRefuse(t, client.Do(t.Context(), "lock", mustNotRun(t), test.opts...), test.says)
		})
	}
	for what, test := range invalidOptionsOfAClient {
		t.Run(what, func(t *testing.T) {
			_, err := redlock.NewOver(m, test.opt)
			mustRefuse(t, err, test.says)
			_, err = client.TryAcquire(t.Context(), "lock", test.opt)
			mustRefuse(t, err, "belongs to New")
		})
	}
	for _, opt := range []redlock.Option{
		redlock.WithQuorum(3), redlock.WithClock(m.clock), redlock.WithRandom(strings.NewReader("")),
	} {
		_, err := client.Acquire(t.Context(), "lock", opt)
		mustRefuse(t, err, "belongs to New")
	}
	if sent := m.commands(); len(sent) > 0 {
		t.Errorf("sent: %+v", sent)
	}
}

func mustNotRun(t *testing.T) func(context.Context, *redlock.Lock) error {
	return func(context.Context, *redlock.Lock) error {
		t.Error("it ran")
		return nil
	}
}

func TestBadNamesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	for name, says := range invalidNames {
		_, err := client.Acquire(t.Context(), name)
		mustRefuse(t, err, says)
		_, err = client.TryAcquire(t.Context(), name, redlock.WithReentrant())
		mustRefuse(t, err, says)
		mustRefuse(t, client.Do(t.Context(), name, mustNotRun(t)), says)
	}
	if sent := m.commands(); len(sent) > 0 {
		t.Errorf("sent: %+v", sent)
	}
}

func TestBadMastersAreRefused(t *testing.T) {
	good := clientsOf(t, []string{"127.0.0.1:1"})[0]
	for what, test := range map[string]struct {
		masters []redis.UniversalClient
		says    string
	}{
		"none":              {nil, "no masters"},
		"empty":             {[]redis.UniversalClient{}, "no masters"},
		"nil":               {[]redis.UniversalClient{good, nil, good}, "master 2 of 3 is nil"},
		"typed nil":         {[]redis.UniversalClient{(*redis.Client)(nil)}, "master 1 of 1 is nil"},
		"typed nil cluster": {[]redis.UniversalClient{good, (*redis.ClusterClient)(nil)}, "master 2 of 2 is nil"},
		"typed nil ring":    {[]redis.UniversalClient{good, good, (*redis.Ring)(nil)}, "master 3 of 3 is nil"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := redlock.New(test.masters)
			mustRefuse(t, err, test.says)
		})
	}
	_, err := redlock.NewOver(nil)
	mustRefuse(t, err, "masters are nil")
	_, err = redlock.NewOver((*model)(nil))
	mustRefuse(t, err, "masters are nil")
	_, err = redlock.NewOver(newModel(0))
	mustRefuse(t, err, "no masters")
	_, err = redlock.Connect(t.Context(), nil)
	mustRefuse(t, err, "no masters")
}

func TestNilArgumentsAreRefused(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	l := take(t, client, "lock")
	sent := len(m.commands())
	var none context.Context
	_, err := client.Acquire(none, "another lock")
	mustRefuse(t, err, "context is nil")
	_, err = client.TryAcquire(none, "another lock")
	mustRefuse(t, err, "context is nil")
	mustRefuse(t, client.Do(none, "another lock", mustNotRun(t)), "context is nil")
	mustRefuse(t, client.Do(t.Context(), "another lock", nil), "function")
	mustRefuse(t, l.Extend(none), "context is nil")
	mustRefuse(t, l.Release(none), "context is nil")
	must(t, l.Err())
	_, err = client.Check(t.Context())
	mustRefuse(t, err, "not Redis")
	_, err = redlock.Connect(none, []string{"redis://127.0.0.1:1"})
	mustRefuse(t, err, "context is nil")
	connected := newClient(t, clientsOf(t, []string{"127.0.0.1:1"}))
	_, err = connected.Check(none)
	mustRefuse(t, err, "context is nil")
	if more := m.commands()[sent:]; len(more) > 0 {
		t.Errorf("sent: %+v", more)
	}
	drop(t, l)
}

func TestAClosedClientRefuses(t *testing.T) {
	m := newModel(5)
	client := m.client(t)
	must(t, client.Close())
	_, err := client.Acquire(t.Context(), "lock")
	mustRefuse(t, err, "closed")
	_, err = client.TryAcquire(t.Context(), "lock")
	mustRefuse(t, err, "closed")
	mustRefuse(t, client.Do(t.Context(), "lock", mustNotRun(t)), "closed")
	must(t, client.Close())
	if sent := m.commands(); len(sent) > 0 {
		t.Errorf("sent: %+v", sent)
	}
}

func TestTheNodeTimeoutFollowsTheTTLWithinItsBounds(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond:  5 * time.Millisecond,
		100 * time.Millisecond: 5 * time.Millisecond,
		time.Second:            50 * time.Millisecond,
		10 * time.Second:       500 * time.Millisecond,
		10 * time.Hour:         500 * time.Millisecond,
		redlock.MaxTTL:         500 * time.Millisecond,
	} {
		m := newModel(5)
		drop(t, take(t, m.client(t), "lock", redlock.WithTTL(ttl), redlock.WithFenceRetention(0)))
		for _, cmd := range m.commands() {
			if cmd.Timeout != want {
				t.Errorf("TTL %v: %v with a timeout of %v, want %v", ttl, cmd.Op, cmd.Timeout, want)
			}
		}
	}
}

func TestTheLargestValuesThatAreAllowedWork(t *testing.T) {
	m := newModel(5)
	client := m.client(t, redlock.WithQuorum(5))
	l := take(t, client, strings.Repeat("x", redlock.MaxNameLen), redlock.WithTTL(redlock.MaxTTL),
		redlock.WithDriftFactor(0), redlock.WithRetry(1, math.MaxInt64), redlock.WithAutoExtend(math.MaxInt64),
		redlock.WithFenceRetention(math.MaxInt64))
	if want := redlock.MaxTTL - 2*time.Millisecond; l.Remaining() != want {
		t.Errorf("%v are left, want %v", l.Remaining(), want)
	}
	drop(t, l)
}

func TestATTLIsCutToWholeMilliseconds(t *testing.T) {
	m := newModel(5)
	l := take(t, m.client(t), "lock", redlock.WithTTL(time.Second+999*time.Microsecond), redlock.WithDriftFactor(0))
	if got := m.asked(redlock.OpAcquire)[0].TTL; got != time.Second {
		t.Errorf("asked for %v", got)
	}
	if want := time.Second - 2*time.Millisecond; l.Remaining() != want {
		t.Errorf("%v are left, want %v", l.Remaining(), want)
	}
	drop(t, l)
}

func TestARandomSourceThatFailsIsAnErrorAndNothingIsSent(t *testing.T) {
	m := newModel(5)
	_, err := m.client(t, redlock.WithRandom(strings.NewReader("too short"))).TryAcquire(t.Context(), "lock")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if sent := m.commands(); len(sent) > 0 {
		t.Errorf("sent: %+v", sent)
	}
}
