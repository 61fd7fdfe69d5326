package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// plain is the way to the masters for schemes that speak Redis' own commands: go-redis as it comes. It implements
// [chaos.Plain], but that of the ends of a context it notices a deadline at once, and a cancellation only between two
// tries.
type plain struct {
	masters []redis.UniversalClient
	process *process
}

func (p plain) Do(ctx context.Context, master int, command ...string) (text string, ok bool, err error) {
	if master < 0 || master >= len(p.masters) || len(command) == 0 {
		return "", false, fmt.Errorf("%q to master %d of %d: there is no such thing", command, master+1, len(p.masters))
	}
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
	case string:
		text, ok = answer, true
	case int64:
		text, ok = strconv.FormatInt(answer, 10), true
	default:
		return "", false, fmt.Errorf("%s to master %s: unexpected answer %v", command[0], nodeName(master), answer)
	}
	p.stop(master, command[0], text)
	return text, ok, nil
}

// stop waits at the point that was asked for. A scheme that asks one master after the other has heard of all of them
// when the last one grants.
func (p plain) stop(master int, command, text string) {
	granted := command == "SET" && text == "OK" || command == "SETNX" && text == "1"
	if granted && master == len(p.masters)-1 && p.process.at == chaos.FirstAnswer {
		p.process.wait()
	}
}
