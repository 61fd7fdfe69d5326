package live

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// existingMasters is how many of them the schemes need.
const existingMasters = 5

// existingNode is a master that somebody runs, and goes on using. The harness can do nothing to it but delete what its
// own clients have written.
type existingNode struct {
	site
	options *redis.Options
	own     string // in the name of every such key

	mu     sync.Mutex
	closed bool
}

// existingAvailable asks those masters what they are, which writes nothing.
func existingAvailable(ctx context.Context, urls []string) (string, error) {
	if len(urls) < existingMasters {
		return "", fmt.Errorf("%d masters are given, and the schemes need %d", len(urls), existingMasters)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for i, u := range urls {
		n, err := newExisting(u)
		if err != nil {
			return "", err
		}
		n.name = nodeName(i)
		if _, err := n.Ask(ctx, "PING"); err != nil {
			return "", err
		}
	}
	// A lock does without some of them; here they only must not be unfit.
	locks, err := redlock.Connect(ctx, urls)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d masters that somebody runs: faults of servers are out of reach", len(urls)), locks.Close()
}

func prepareExisting(_ context.Context, c Config) (startNode, error) {
	return func(ctx context.Context, name string) (Node, error) {
		i := int(name[0] - 'A')
		if i >= len(c.URLs) {
			return nil, fmt.Errorf("only %d masters are given", len(c.URLs))
		}
		n, err := newExisting(c.URLs[i])
		if err != nil {
			return nil, err
		}
		n.name, n.own = name, c.own
		if _, err := n.Ask(ctx, "PING"); err != nil {
			return nil, err
		}
		return n, nil
	}, nil
}

// newExisting reads a URL: redis://user:password@host:port/database. No error shows the password.
func newExisting(text string) (*existingNode, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the URL of a master cannot be read")
	}
	if u.Scheme != "redis" {
		return nil, unsupported("%s: only redis:// can be relayed by the harness", u.Redacted())
	}
	o, err := redis.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("the URL of a master, %s: %w", u.Redacted(), err)
	}
	n := &existingNode{site: site{addr: o.Addr, user: u.User}, options: o}
	switch {
	case o.Username != "":
		n.login = append(n.login, []string{"AUTH", o.Username, o.Password})
	case o.Password != "":
		n.login = append(n.login, []string{"AUTH", o.Password})
	}
	if o.DB != 0 {
		n.path = fmt.Sprintf("/%d", o.DB)
		n.login = append(n.login, []string{"SELECT", strconv.Itoa(o.DB)})
	}
	return n, nil
}

// out is the answer to every fault.
func (n *existingNode) out(op string) error {
	return unsupported("%s node %s: somebody else runs it", op, n.name)
}

func (n *existingNode) Kill(context.Context) error    { return n.out("kill") }
func (n *existingNode) Restart(context.Context) error { return n.out("restart") }
func (n *existingNode) PowerLoss(context.Context) (string, error) {
	return "", n.out("cut the power of")
}
func (n *existingNode) Pause(context.Context) (string, error)          { return "", n.out("pause") }
func (n *existingNode) Resume(context.Context) error                   { return n.out("resume") }
func (n *existingNode) Drift(context.Context, float64) (string, error) { return "", n.out("slow down") }
func (n *existingNode) FlushAll(context.Context) (string, error)       { return "", n.out("flush") }
func (n *existingNode) StartReplica(context.Context) (*Replica, error) {
	return nil, n.out("replicate")
}

func (n *existingNode) Evict(context.Context, string, ...string) (string, error) {
	return "", n.out("evict from")
}

func (n *existingNode) StepClock(context.Context, time.Duration) (Proof, error) {
	return Proof{}, n.out("step the clock of")
}

// reset deletes the keys of this harness, and proves it by looking for them once more.
func (n *existingNode) reset(ctx context.Context) error {
	client := redis.NewClient(n.options)
	defer client.Close()
	own := func() (keys []string, err error) {
		const batch = 1000
		found := client.Scan(ctx, 0, "*"+n.own+"*", batch).Iterator()
		for found.Next(ctx) {
			if strings.Contains(found.Val(), n.own) {
				keys = append(keys, found.Val())
			}
		}
		return keys, found.Err()
	}
	keys, err := own()
	if err == nil && len(keys) > 0 {
		err = client.Del(ctx, keys...).Err()
	}
	if err == nil {
		keys, err = own()
	}
	if err != nil {
		return fmt.Errorf("delete own keys from node %s: %w", n.name, err)
	}
	if len(keys) > 0 {
		return fmt.Errorf("delete own keys from node %s: %q are still there", n.name, keys)
	}
	return nil
}

func (n *existingNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	return n.reset(ctx)
}
