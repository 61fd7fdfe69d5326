package redlock

import (
	"crypto/rand"
	"io"
	"math"
	"strings"
	"time"

	"github.com/b6e7cabe/quorumlock/clock"
	"github.com/b6e7cabe/quorumlock/quorum"
)

// The defaults.
const (
	DefaultTTL            = 10 * time.Second
	DefaultDriftFactor    = 0.01
	DefaultRetryMin       = 10 * time.Millisecond
	DefaultRetryMax       = 250 * time.Millisecond
	DefaultFenceRetention = 24 * time.Hour

	// The default node timeout is TTL/20 within these bounds.
	minNodeTimeout = 5 * time.Millisecond
	maxNodeTimeout = 500 * time.Millisecond
)

// The bounds of what is accepted.
const (
	MinTTL     = 10 * time.Millisecond
	MaxTTL     = 365 * 24 * time.Hour
	MaxNameLen = 512 // bytes

	// driftFloor is added to the drift for the milliseconds that Redis counts in.
	driftFloor = 2 * time.Millisecond
)

// An Option changes a setting: of a client when given to [New] or [Connect], of one lock when given to
// [Client.Acquire] and its like. WithQuorum, WithClock and WithRandom belong to the client alone.
type Option struct {
	name       string
	clientOnly bool
	set        func(*settings)
}

type settings struct {
	ttl                time.Duration
	nodeTimeout        time.Duration // or derived
	driftFactor        float64
	quorum             int // or derived
	retryMin, retryMax time.Duration
	extendLimit        time.Duration // 0: no automatic extension
	autoExtend         bool
	retention          time.Duration
	reentrant          bool
	trace              *Trace
	clock              clock.Clock
	random             io.Reader
}

// derived stands for a setting that follows from another one unless it is given.
const derived = math.MinInt

var noTrace = new(Trace)

func defaults() settings {
	return settings{
		ttl:         DefaultTTL,
		nodeTimeout: derived,
		quorum:      derived,
		driftFactor: DefaultDriftFactor,
		retryMin:    DefaultRetryMin,
		retryMax:    DefaultRetryMax,
		retention:   DefaultFenceRetention,
		trace:       noTrace,
		clock:       clock.System(),
		random:      rand.Reader,
	}
}

// WithTTL sets the lease: how long the masters keep the lock for a holder that is not heard of again. Default 10 s;
// from 10 ms, in whole milliseconds (fractions are dropped), and longer than the node timeout. Take more than the longest
// pause that the holder may suffer plus its work, or extend: a lease that ends under a working holder breaks the lock.
func WithTTL(ttl time.Duration) Option {
	return Option{name: "WithTTL", set: func(s *settings) { s.ttl = ttl }}
}

// WithDriftFactor sets which part of the TTL is given away for clocks that run at different rates: validity = TTL -
// elapsed - (TTL x factor + 2 ms). Default 0.01. A clock that is being slewed hard may run 8 % off: then 0.08.
// (Redis documentation, "Distributed locks with Redis", the algorithm's third step.)
func WithDriftFactor(factor float64) Option {
	return Option{name: "WithDriftFactor", set: func(s *settings) { s.driftFactor = factor }}
}

// WithNodeTimeout sets how long one master may take to answer one question before it counts as failed. Default
// TTL/20, at least 5 ms and at most 500 ms. It holds whatever time-outs the go-redis client has. Commands to one master
// share its connection: a longer time-out of one lock is how long a silent connection may hold up the others.
func WithNodeTimeout(timeout time.Duration) Option {
	return Option{name: "WithNodeTimeout", set: func(s *settings) { s.nodeTimeout = timeout }}
}

// WithQuorum sets how many masters must grant: from the majority n/2+1 (the default) to n. Every client of a lock
// must use the same number.
func WithQuorum(need int) Option {
	return Option{name: "WithQuorum", clientOnly: true, set: func(s *settings) { s.quorum = need }}
}

// WithRetry sets the back-off between the attempts of a waiting Acquire: after the k-th attempt it waits a random time
// between 0 and the smaller of max and min x 2^(k-1) (full jitter). Default 10 ms and 250 ms.
func WithRetry(min, max time.Duration) Option {
	return Option{name: "WithRetry", set: func(s *settings) { s.retryMin, s.retryMax = min, max }}
}

// WithAutoExtend extends the lock every TTL/3 while it is held, until limit has passed since it was acquired: no
// automatic extension goes beyond that, so a holder that hangs does not keep the lock for ever.
func WithAutoExtend(limit time.Duration) Option {
	return Option{name: "WithAutoExtend", set: func(s *settings) { s.autoExtend, s.extendLimit = true, limit }}
}

// WithFenceRetention sets how long a lock's counter of fencing tokens outlives its last use; 0 = for ever. Default
// 24 h; otherwise at least twice the TTL. A counter that has expired starts again from the client's wall clock,
// which exceeds all older tokens as long as that clock did not run backwards.
func WithFenceRetention(retention time.Duration) Option {
	return Option{name: "WithFenceRetention", set: func(s *settings) { s.retention = retention }}
}

// WithClock sets the clock by which leases are measured; for tests and simulations. Default [clock.System].
func WithClock(c clock.Clock) Option {
	return Option{name: "WithClock", clientOnly: true, set: func(s *settings) { s.clock = c }}
}

// WithRandom sets where the values of attempts and the jitter of the back-off come from; for simulations that must
// repeat themselves. Default crypto/rand, and nothing less is safe between real clients.
func WithRandom(r io.Reader) Option {
	return Option{name: "WithRandom", clientOnly: true, set: func(s *settings) { s.random = r }}
}

// WithTrace has the callbacks of trace called as things happen.
func WithTrace(trace *Trace) Option {
	return Option{name: "WithTrace", set: func(s *settings) { s.trace = trace }}
}

// WithReentrant lets Acquire under a context that already carries the lock of that name (its [Lock.Context], or what
// [Client.Do] passes on) return a further handle of the same hold instead of waiting for itself. The lock is released
// with the last handle.
func WithReentrant() Option {
	return Option{name: "WithReentrant", set: func(s *settings) { s.reentrant = true }}
}

// apply returns the settings changed by opts, checked for n masters.
func (s settings) apply(opts []Option, forClient bool, n int) (settings, error) {
	for _, opt := range opts {
		if opt.set == nil {
			return s, invalid("an Option that no function of this package made")
		}
		if opt.clientOnly && !forClient {
			return s, invalid("%s belongs to New: it must be the same for every lock of a client", opt.name)
		}
		opt.set(&s)
	}
	s.ttl = s.ttl.Truncate(time.Millisecond)
	err := s.check(n) // before a retention of less than 1 ms becomes 0, which means for ever
	s.retention = s.retention.Truncate(time.Millisecond)
	return s, err
}

func (s settings) check(n int) error {
	switch {
	case s.ttl < MinTTL:
		return invalid("TTL %v is below %v", s.ttl, MinTTL)
	case s.ttl > MaxTTL:
		return invalid("TTL %v is above %v", s.ttl, MaxTTL)
	case s.timeout() <= 0:
		return invalid("node timeout %v is not positive", s.timeout())
	case s.ttl <= s.timeout():
		return invalid("TTL %v is not above the node timeout %v", s.ttl, s.timeout())
	case math.IsNaN(s.driftFactor) || s.driftFactor < 0 || s.driftFactor >= 1:
		return invalid("drift factor %v is not within 0 and 1", s.driftFactor)
	case s.lease() <= 0:
		return invalid("TTL %v leaves nothing after a drift of %v", s.ttl, s.ttl-s.lease())
	case s.retryMin <= 0 || s.retryMax < s.retryMin:
		return invalid("retry between %v and %v: want 0 < min <= max", s.retryMin, s.retryMax)
	case s.autoExtend && s.extendLimit < s.ttl:
		return invalid("auto-extend limit %v is below the TTL %v", s.extendLimit, s.ttl)
	case s.retention != 0 && s.retention < 2*s.ttl:
		return invalid("fence retention %v is below twice the TTL %v", s.retention, s.ttl)
	case isNil(s.clock):
		return invalid("the clock is nil")
	case isNil(s.random):
		return invalid("the source of randomness is nil")
	case s.trace == nil:
		return invalid("the trace is nil")
	}
	if err := quorum.Valid(n, s.need(n)); err != nil {
		return invalid("%v", err)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return invalid("the lock's name is empty")
	case len(name) > MaxNameLen:
		return invalid("the lock's name has %d bytes, more than %d", len(name), MaxNameLen)
	case strings.HasSuffix(name, counterSuffix):
		return invalid("the lock's name %q ends in %q, which is where the counters of other locks are kept", name, counterSuffix)
	}
	return nil
}

// need returns the quorum of n masters.
func (s settings) need(n int) int {
	if s.quorum == derived {
		return quorum.Majority(n)
	}
	return s.quorum
}

// timeout returns the node timeout.
func (s settings) timeout() time.Duration {
	if s.nodeTimeout != derived {
		return s.nodeTimeout
	}
	return min(max(s.ttl/20, minNodeTimeout), maxNodeTimeout)
}

// lease returns for how long from its start a grant may be relied on: the TTL less the drift.
func (s settings) lease() time.Duration {
	return s.ttl - time.Duration(float64(s.ttl)*s.driftFactor) - driftFloor
}
