package live

import (
	"context"
	"fmt"
	"strings"
)

// Kind is how nodes are made.
type Kind int

const (
	Process  Kind = iota + 1 // one redis-server process each
	Embedded                 // miniredis in this process, over real TCP
)

// kind is what a Kind has to offer. Preparing happens once for all the nodes of a StartNodes.
type kind struct {
	id        Kind
	name      string
	available func() (detail string, err error) // one line for a person either way
	prepare   func(ctx context.Context, c Config) (startNode, error)
}

// startNode starts one node and returns when it answers PING.
type startNode func(ctx context.Context, name string) (Node, error)

// kinds returns every Kind, the one nearest to production first.
func kinds() []kind {
	return []kind{
		{Process, "process", redisServerAvailable, prepareProcess},
		{Embedded, "embedded", embeddedAvailable, prepareEmbedded},
	}
}

func (k Kind) lookup() (kind, error) {
	for _, each := range kinds() {
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

// ParseKind is the Kind of that name: "process" or "embedded".
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

// Choose turns what a person asked for, "auto" or a name that ParseKind takes, into a Kind that works on this machine.
// "auto" takes redis-server if there is one on PATH that is new enough, else embedded nodes. The reason is one line for
// a person: what was taken, and why nothing better. What was asked for by name and does not work here is an error that
// wraps ErrUnsupported.
func Choose(want string) (Kind, string, error) {
	if want != "auto" {
		k, err := ParseKind(want)
		if err != nil {
			return 0, "", fmt.Errorf("choose nodes: %w (or auto)", err)
		}
		each, err := k.lookup()
		if err != nil {
			return 0, "", err
		}
		detail, err := each.available()
		if err != nil {
			return 0, "", fmt.Errorf("choose nodes: %s: %w", want, err)
		}
		return k, detail, nil
	}
	var missing []string
	for _, each := range kinds() {
		detail, err := each.available()
		if err == nil {
			return each.id, strings.Join(append(missing, detail), ": "), nil
		}
		missing = append(missing, err.Error())
	}
	return 0, "", fmt.Errorf("choose nodes: %w: %s", ErrUnsupported, strings.Join(missing, ", "))
}
