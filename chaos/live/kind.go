package live

import (
	"context"
	"fmt"
	"strings"
)

// Kind is how nodes are made.
type Kind int

const (
	Docker   Kind = iota + 1 // a redis-server each, in a container
	Process                  // a redis-server each, as a process
	Embedded                 // miniredis in this process, over real TCP
	Existing                 // masters that somebody runs, who goes on using them
)

// kind is what a Kind has to offer. Preparing happens once for all the nodes of a StartNodes.
type kind struct {
	id        Kind
	name      string
	available func(context.Context) (detail string, err error) // one line for a person either way
	prepare   func(ctx context.Context, c Config) (startNode, error)
}

// startNode starts one node and returns when it answers PING.
type startNode func(ctx context.Context, name string) (Node, error)

// kinds returns every Kind that the harness can start, the one nearest to production first.
func kinds() []kind {
	return []kind{
		{Docker, "docker", dockerAvailable, prepareDocker},
		{Process, "process", redisServerAvailable, prepareProcess},
		{Embedded, "embedded", embeddedAvailable, prepareEmbedded},
	}
}

func (k Kind) lookup() (kind, error) {
	for _, each := range append(kinds(), kind{Existing, "existing", nil, prepareExisting}) {
		if each.id == k {
			return each, nil
		}
	}
	return kind{}, fmt.Errorf("unknown kind of node: %d", int(k))
}

// String is the name that ParseKind takes.
func (k Kind) String() string {
	each, err := k.lookup()
	if err != nil {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return each.name
}

// ParseKind is the Kind of that name: "docker", "process" or "embedded". Existing masters have no name but their URLs.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, each := range kinds() {
		if each.name == name {
			return each.id, nil
		}
		names = append(names, each.name)
	}
	return 0, fmt.Errorf("unknown kind of node %q: want one of %s", name, strings.Join(names, ", "))
}

// Choose turns what a person asked for into a Kind that works on this machine: "auto", a name that ParseKind takes, or
// the URLs of existing masters, separated by commas. "auto" takes Docker if its engine answers and has an image or can
// pull one, else redis-server if there is one on PATH that is new enough, else embedded nodes. The reason is one line for
// a person: what was taken, and why nothing better. What was asked for by name and does not work here is an error that
// wraps ErrUnsupported.
func Choose(ctx context.Context, want string) (Kind, string, error) {
	if strings.Contains(want, "://") {
		reason, err := existingAvailable(ctx, strings.Split(want, ","))
		if err != nil {
			return 0, "", fmt.Errorf("choose nodes: %w", err)
		}
		return Existing, reason, nil
	}
	if want != "auto" {
		k, err := ParseKind(want)
		if err != nil {
			return 0, "", fmt.Errorf("choose nodes: %w (or auto, or redis://...)", err)
		}
		each, err := k.lookup()
		if err != nil {
			return 0, "", err
		}
		detail, err := each.available(ctx)
		if err != nil {
			return 0, "", fmt.Errorf("choose nodes: %s: %w", want, err)
		}
		return k, detail, nil
	}
	var missing []string
	for _, each := range kinds() {
		detail, err := each.available(ctx)
		if err == nil {
			return each.id, strings.Join(append(missing, detail), ": "), nil
		}
		missing = append(missing, err.Error())
	}
	return 0, "", fmt.Errorf("choose nodes: %w: %s", ErrUnsupported, strings.Join(missing, ", "))
}
