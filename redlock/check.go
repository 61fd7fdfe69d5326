package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/quorum"
)

// Health is what [Client.Check] learned, one entry a master, in the order given to [New].
type Health struct {
	Masters []MasterHealth
}

// MasterHealth is what one master says of itself. What it may not be asked (ACL) is left empty, with a warning.
type MasterHealth struct {
	Node            string        // its address
	Reachable       bool          // it answered
	Version         string        // of Redis or Valkey
	RunID           string        // of this run of the server
	Role            string        // "master" or "slave"
	MaxmemoryPolicy string        // anything but noeviction may delete locks
	AppendOnly      string        // "yes" or "no"
	AppendFsync     string        // "always", "everysec" or "no"
	ClockOffset     time.Duration // its clock less ours, to within RoundTrip
	RoundTrip       time.Duration // of the question that ClockOffset comes from
	Uptime          time.Duration // in whole seconds
	Errors          []error       // why it must not be used, or cannot be reached
	Warnings        []string      // what an operator should know
}

// The oldest server that is accepted.
const minVersion = "6.2"

const (
	checkTimeout = 2 * time.Second

	// A clock this far off makes fencing tokens depend on the counters alone.
	maxClockOffset = time.Second
)

// check asks all masters at once.
func check(ctx context.Context, t *transport, s settings) (Health, error) {
	if ctx == nil {
		return Health{}, invalid("the context is nil")
	}
	health := Health{Masters: make([]MasterHealth, len(t.nodes))}
	for i, n := range t.nodes {
		health.Masters[i] = MasterHealth{Node: n.name, Errors: []error{tooLate(checkTimeout)}}
	}
	bound, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for i, m := range quorum.Ask(bound, len(t.nodes), func(i int, answer func(MasterHealth)) {
		go func() { answer(t.nodes[i].examine(bound, s)) }()
	}) {
		health.Masters[i] = m
	}
	if ctx.Err() != nil {
		return health, fmt.Errorf("redlock: check: %w", ctx.Err())
	}
	health.findDuplicates()
	return health, health.verdict(s.need(len(t.nodes)))
}

// findDuplicates marks servers that were given twice: both votes would be one.
func (h Health) findDuplicates() {
	first := map[string]int{}
	for i := range h.Masters {
		m := &h.Masters[i]
		if m.RunID == "" {
			continue
		}
		if j, ok := first[m.RunID]; ok {
			m.Errors = append(m.Errors, fmt.Errorf("is the same server as %s (master %d)", h.Masters[j].Node, j+1))
			continue
		}
		first[m.RunID] = i
	}
}

// verdict makes one error of what was found.
func (h Health) verdict(need int) error {
	e := &QuorumError{Op: "check", Need: need, kind: ErrInvalid}
	unfit := false
	for _, m := range h.Masters {
		for _, err := range m.Errors {
			e.Errors = multierror.Append(e.Errors, &NodeError{Node: m.Node, Err: err})
		}
		switch {
		case !m.Reachable:
			e.Unknown++
		case len(m.Errors) > 0:
			e.Lost++
			unfit = true
		default:
			e.Won++
		}
	}
	switch {
	case unfit:
		return e
	case e.Won < need:
		e.kind = ErrNoQuorum
		return e
	}
	return nil
}

// examine asks one master. Only lost connections and wrong answers are errors; what may not be asked is a warning.
func (n *node) examine(ctx context.Context, s settings) MasterHealth {
	m := MasterHealth{Node: n.name}
	before := time.Now()
	now, err := n.client.Time(ctx).Result()
	m.RoundTrip = time.Since(before)
	if err != nil && !m.refused(err, "TIME") {
		m.Errors = append(m.Errors, err)
		return m
	}
	m.Reachable = true
	if err == nil {
		m.ClockOffset = now.Sub(before.Add(m.RoundTrip / 2))
		if off := m.ClockOffset.Abs() - m.RoundTrip; off > maxClockOffset {
			m.warn("its clock is %v off ours", m.ClockOffset.Round(time.Millisecond))
		}
	}
	for _, question := range []func(context.Context, redis.UniversalClient) error{m.readInfo, m.readConfig, m.tryScript} {
		if err := question(ctx, n.client); err != nil {
			if !isAnswer(err) { // it was lost meanwhile
				m.Reachable, m.Errors = false, []error{err}
				return m
			}
			m.Errors = append(m.Errors, err)
		}
	}
	m.judge(s)
	return m
}

// isAnswer reports whether an error is what a server said, and not that it did not, or not yet.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && !redis.HasErrorPrefix(answer, "LOADING")
}

// refused notes that the server does not allow a question; it reports whether that was the error.
func (m *MasterHealth) refused(err error, what string) bool {
	if !redis.HasErrorPrefix(err, "NOPERM") && !redis.HasErrorPrefix(err, "ERR unknown") {
		return false
	}
	m.warn("%s may not be asked: %v", what, err)
	return true
}

func (m *MasterHealth) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

func (m *MasterHealth) readInfo(ctx context.Context, client redis.UniversalClient) error {
	text, err := client.Info(ctx).Result() // all sections: before 7.0 it took one name or none
	if err != nil {
		if m.refused(err, "INFO") {
			return nil
		}
		return fmt.Errorf("INFO: %w", err)
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch key {
		case "redis_version":
			if m.Version == "" {
				m.Version = value
			}
		case "valkey_version":
			m.Version = value // which also claims to be some redis_version
		case "run_id":
			m.RunID = value
		case "role":
			m.Role = value
		case "uptime_in_seconds":
			seconds, _ := strconv.ParseInt(value, 10, 32)
			m.Uptime = time.Duration(seconds) * time.Second
		}
	}
	return nil
}

func (m *MasterHealth) readConfig(ctx context.Context, client redis.UniversalClient) error {
	for _, setting := range []struct {
		name string
		into *string
	}{
		{"maxmemory-policy", &m.MaxmemoryPolicy},
		{"appendonly", &m.AppendOnly},
		{"appendfsync", &m.AppendFsync},
	} {
		values, err := client.ConfigGet(ctx, setting.name).Result()
		if err != nil {
			if m.refused(err, "CONFIG GET") {
				return nil
			}
			return fmt.Errorf("CONFIG GET %s: %w", setting.name, err)
		}
		*setting.into = values[setting.name]
	}
	return nil
}

// tryScript runs a script that reads the keys of a lock that nobody holds, since without that right no lock works.
func (m *MasterHealth) tryScript(ctx context.Context, client redis.UniversalClient) error {
	probe := Command{Op: OpRelease, Name: "quorumlock:check", Value: "nobody"}
	call := slices.Concat([]any{"EVAL", scripts[probe.Op].text}, probe.call()[2:])
	err := client.Do(ctx, call...).Err()
	switch {
	case err == nil:
		return nil
	case redis.HasErrorPrefix(err, "NOPERM"):
		// The probe's name may be outside the keys that the user was given; the locks' own names need not be.
		m.warn("a script may not be run on the key %q: %v", probe.Name, err)
		return nil
	}
	return fmt.Errorf("a script cannot be run: %w", err)
}

// judge draws the conclusions.
func (m *MasterHealth) judge(s settings) {
	if m.Version != "" && versionLess(m.Version, minVersion) {
		m.Errors = append(m.Errors, fmt.Errorf("its version %s is older than %s", m.Version, minVersion))
	}
	if m.Role != "" && m.Role != "master" {
		m.Errors = append(m.Errors, errors.New("is a replica: it would forget locks that its master still has to copy"))
	}
	if m.MaxmemoryPolicy != "" && m.MaxmemoryPolicy != "noeviction" {
		m.warn("maxmemory-policy %s may delete locks; use noeviction", m.MaxmemoryPolicy)
	}
	switch {
	case m.AppendOnly == "no":
		m.warn("appendonly is off: a restart forgets its locks and its counters")
	case m.AppendFsync != "" && m.AppendFsync != "always":
		m.warn("appendfsync %s: a power loss forgets the latest locks and counts", m.AppendFsync)
	}
	if m.RunID != "" && m.Uptime < s.ttl {
		m.warn("it started %v ago, which is less than the TTL: locks from before may still be believed in", m.Uptime)
	}
}

// versionLess compares dotted numbers.
func versionLess(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range bs {
		x, y := 0, 0
		if i < len(as) {
			x, _ = strconv.Atoi(as[i])
		}
		y, _ = strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return false
}
