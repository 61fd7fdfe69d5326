package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos"
	"github.com/b6e7cabe/quorumlock/quorum"
)

// newRedisClient returns go-redis with its defaults, but that it keeps the deadlines that it is given.
func newRedisClient(url string) (*redis.Client, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options.ContextTimeoutEnabled = true
	return redis.NewClient(options), nil
}

// plain is the way to the masters for schemes that speak Redis' own commands: go-redis as it comes. It implements
// [chaos.Plain], with a limit of that library: a context's deadline ends a command at once, its cancellation only
// between two tries.
type plain struct {
	masters []redis.UniversalClient
	process *process
	granted int // to the acquire under way
}

func (p *plain) Do(ctx context.Context, master int, command ...string) (text string, ok bool, err error) {
	if master < 0 || master >= len(p.masters) || len(command) == 0 {
		return "", false, fmt.Errorf("%q to master %d of %d: there is no such thing", command, master+1, len(p.masters))
	}
	text, ok, err = p.do(ctx, master, command)
	if command[0] == "SET" || command[0] == "SETNX" {
		p.asked(master, text == "OK" || text == "1")
	}
	return text, ok, err
}

func (p *plain) do(ctx context.Context, master int, command []string) (string, bool, error) {
	args := make([]any, len(command))
	for i, word := range command {
		args[i] = word
	}
	answer, err := p.masters[master].Do(ctx, args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", false, fmt.Errorf("%s to master %s: %w", command[0], nodeName(master), err)
	}
	switch answer := answer.(type) {
	case nil:
		return "", false, nil
	case string:
		return answer, true, nil
	case int64:
		return strconv.FormatInt(answer, 10), true, nil
	}
	return "", false, fmt.Errorf("%s to master %s: unexpected answer %v", command[0], nodeName(master), answer)
}

// asked waits at the point that was asked for, if it is reached: a scheme that asks one master after the other has heard
// of all of them when it has heard of the last.
func (p *plain) asked(master int, granted bool) {
	if master == 0 {
		p.granted = 0
	}
	if granted {
		p.granted++
	}
	last, won := master == len(p.masters)-1, p.granted >= quorum.Majority(len(p.masters))
	if last && won && p.process.at == chaos.FirstAnswer {
		p.process.wait()
	}
}
