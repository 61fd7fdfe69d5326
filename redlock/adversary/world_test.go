package adversary

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/b6e7cabe/quorumlock/redlock"
)

// A world is one schedule: model nodes, real clients, and what is on its way between them. The clients are coroutines
// and no time passes, so that all that happens follows from the adversary's choices.
type world struct {
	choose   func(n int) int // the adversary: picks one of 0 .. n-1
	deck     []card
	nodes    []*node
	clients  []*client
	messages []*message // oldest first
	rounds   []*round
	running  *process
	step     int
	over     bool

	attempts  map[string]*attempt // by value
	grants    []*attempt          // in the order in which they were returned
	violation string              // the first one
	seen      map[string]int      // how often schedules got to certain states
	telling   bool
	story     []string
}

// An attempt is one acquisition.
type attempt struct {
	client          *client
	name            string // "2b" is the second of client 2
	began, returned int    // steps; returned is of the grant
	token           redlock.Token
	confirming      int     // rounds of confirmation: the slow path
	confirmed       [5]bool // by node
	robbed          bool    // somewhere its key vanished between SET and confirmation
}

// A round is a Send that somebody iterates over.
type round struct {
	client  *client
	attempt *attempt
	cmd     redlock.Command
	waiting [5]bool // by node: there was no reply yet, and one would be heard
	inbox   []redlock.Reply
}

// A message is a request, or the reply to one.
type message struct {
	*round
	node     int
	reply    *redlock.Reply // nil for a request
	repeated bool
}

// maxChoices bounds a schedule: a client that hears nothing asks for ever.
const maxChoices = 800

// play runs one schedule on nodes that follow the scripts but for the flaw. It counts in seen what states it reached.
func play(choose func(n int) int, f flaw, seen map[string]int, telling bool) *world {
	w := &world{choose: choose, seen: seen, telling: telling, attempts: map[string]*attempt{}}
	defer w.end()
	of := func(values ...int) int { return values[choose(len(values))] }
	w.deck = newDeck(of)
	for i := range of(3, 3, 3, 5) {
		n := &node{flaw: f, counter: redlock.Token(of(0, 1, 2))}
		w.nodes = append(w.nodes, n)
		w.tell("%s has counted to %d", label(i), n.counter)
	}
	for i := range of(2, 3) {
		w.clients = append(w.clients, newClient(w, i+1, of(1, 2)))
	}
	for range maxChoices {
		if !w.act() {
			continue
		}
		w.step++
		w.resume()
		w.tidy()
		if w.violation != "" || w.settled() {
			break
		}
	}
	return w
}

// act has the adversary play a card on a client and a node. One that says nothing in the present state does nothing, so
// that each choice keeps its meaning when rapid leaves out others.
func (w *world) act() (done bool) {
	choice := w.choose(len(w.deck) * len(w.clients) * len(w.nodes))
	choice, node := choice/len(w.nodes), choice%len(w.nodes)
	choice, c := choice/len(w.clients), w.clients[choice%len(w.clients)]
	return w.deck[choice].move(c, node, w.deck[choice].n)
}

// A card is a kind of move, and for some of them which: the n-th from the newest.
type card struct {
	move func(c *client, node, n int) (done bool)
	n    int
}

// newDeck returns the cards of one schedule. How much mischief is among them differs, since some violations need much of
// one kind and none of another (Groce and others, "Swarm testing", 2012).
func newDeck(of func(values ...int) int) []card {
	return slices.Concat(
		slices.Repeat([]card{{(*client).begin, 0}, {(*client).wake, 0}}, 2),
		slices.Repeat([]card{{(*client).hear, 0}}, 7),
		slices.Repeat([]card{{(*client).deliver, 0}, {(*client).deliver, 1}}, 2),
		[]card{{(*client).deliver, 2}, {(*client).deliver, 3}, {(*client).deliver, 4}, {(*client).deliver, 5}},
		[]card{{(*client).hear, 1}, {(*client).wake, 1}, {(*client).extend, 0}, {(*client).release, 0}},
		slices.Repeat([]card{{(*client).vanish, 0}}, of(1, 2, 4)),
		slices.Repeat([]card{{(*client).repeat, 0}}, of(0, 1, 2)),
		slices.Repeat([]card{{(*client).giveUp, 0}, {(*client).lose, 0}}, of(0, 0, 1)),
	)
}

// deliver brings a request to its node, not always the oldest: some may come on another connection.
func (c *client) deliver(node, n int) bool {
	return nth(c.world.messages, n, func(m *message) bool { return m.request(c, node) }, func(m *message) {
		c.world.take(m)
		c.world.execute(m)
	})
}

// repeat delivers a request and leaves it on its way, once.
func (c *client) repeat(node, n int) bool {
	return nth(c.world.messages, n, func(m *message) bool { return m.request(c, node) && !m.repeated }, func(m *message) {
		m.repeated = true
		c.world.execute(m)
	})
}

func (c *client) hear(node, n int) bool {
	return nth(c.world.messages, n, func(m *message) bool { return m.awaited(c, node) }, func(m *message) {
		c.world.tell("%s hears from %s", m.attempt.name, label(node))
		m.answer(*m.reply)
	})
}

func (c *client) lose(node, n int) bool {
	match := func(m *message) bool { return m.request(c, node) || m.awaited(c, node) }
	return nth(c.world.messages, n, match, func(m *message) {
		c.world.take(m)
		c.world.tell("lost: %s", m)
	})
}

// giveUp lets a client's time for a node pass.
func (c *client) giveUp(node, n int) bool {
	return nth(c.world.rounds, n, func(r *round) bool { return r.client == c && r.waiting[node] }, func(r *round) {
		c.world.tell("%s gives up on %s", r.attempt.name, label(node))
		r.answer(redlock.Reply{Node: node, Err: os.ErrDeadlineExceeded})
	})
}

// vanish makes a client's key disappear, be it by expiry, eviction or an operator's hand. The counter stays.
func (c *client) vanish(node, _ int) bool {
	holder := &c.world.nodes[node].holder
	a := c.world.attempts[*holder]
	if a == nil || a.client != c {
		return false
	}
	c.world.tell("%s forgets the lock of %s", label(node), a.name)
	a.robbed = a.robbed || !a.confirmed[node]
	*holder = ""
	return true
}

// nth does something to the n-th match from the end; it reports whether there is one.
func nth[E any](all []*E, n int, match func(*E) bool, do func(*E)) bool {
	for _, e := range slices.Backward(all) {
		if match(e) {
			if n == 0 {
				do(e)
				return true
			}
			n--
		}
	}
	return false
}

func (m *message) request(c *client, node int) bool {
	return m.reply == nil && m.client == c && m.node == node
}

func (m *message) awaited(c *client, node int) bool {
	return m.reply != nil && m.client == c && m.node == node && m.waiting[node]
}

// answer ends the waiting for one node. Its first reply is the only one.
func (r *round) answer(reply redlock.Reply) {
	r.inbox = append(r.inbox, reply)
	r.waiting[reply.Node] = false
}

// take removes a message from the network.
func (w *world) take(m *message) {
	w.messages = slices.DeleteFunc(w.messages, func(other *message) bool { return other == m })
}

// tidy drops what can have no effect any more: replies that nobody waits for.
func (w *world) tidy() {
	w.messages = slices.DeleteFunc(w.messages, func(m *message) bool { return m.reply != nil && !m.waiting[m.node] })
	w.rounds = slices.DeleteFunc(w.rounds, func(r *round) bool { return r.waiting == [5]bool{} })
}

// settled reports whether no token can be granted any more.
func (w *world) settled() bool {
	return !slices.ContainsFunc(w.clients, func(c *client) bool { return c.busy || c.left > 0 })
}

// execute has a node carry out a request. Its reply sets out if anybody still waits for one.
func (w *world) execute(m *message) {
	n, op := w.nodes[m.node], m.cmd.Op
	before := n.counter
	status, counter := n.run(m.cmd)
	w.tell("%s: %v, the counter is %d", m, status, n.counter)
	if n.counter < before && n.flaw == sound {
		w.violate("fall: the counter of %s has gone from %d to %d", label(m.node), before, n.counter)
	}
	switch {
	case op == redlock.OpRepair && status == redlock.Done:
		w.seen["repairs"]++
	case op == redlock.OpConfirm && status == redlock.Done:
		m.attempt.confirmed[m.node] = true
	case op == redlock.OpConfirm && m.waiting[m.node]:
		w.seen["confirmations refused: "+status.String()]++
	}
	if m.waiting[m.node] {
		reply := redlock.Reply{Node: m.node, Status: status, Counter: counter}
		w.messages = append(w.messages, &message{round: m.round, node: m.node, reply: &reply})
	}
}

// grant judges a new token: no other grant has it, and those that were there before it was asked for have smaller ones.
func (w *world) grant(a *attempt, token redlock.Token) {
	a.token, a.returned = token, w.step
	w.tell("%s is granted token %d", a.name, token)
	ordered := false
	for _, other := range w.grants {
		earlier := other.returned < a.began
		ordered = ordered || earlier
		switch {
		case other.token == token:
			w.violate("duplicate: %s and %s both carry token %d", other.name, a.name, token)
		case earlier && other.token > token:
			w.violate("inversion: %s carries %d, but %s, which began later, only %d", other.name, other.token, a.name, token)
		}
	}
	w.grants = append(w.grants, a)
	for state, reached := range map[string]bool{
		"schedules with two grants":                    len(w.grants) == 2,
		"grants begun after another had returned":      ordered,
		"grants, fast path":                            a.confirming == 0,
		"grants, slow path":                            a.confirming > 0,
		"grants, slow path, a key gone before":         a.confirming > 0 && a.robbed,
		"grants, slow path, more than one round of it": a.confirming > 1,
	} {
		if reached {
			w.seen[state]++
		}
	}
}

func (w *world) violate(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf(format, args...)
		w.tell("%s", w.violation)
	}
}

func (w *world) tell(format string, args ...any) {
	if w.telling {
		w.story = append(w.story, fmt.Sprintf("\n%4d. ", len(w.story)+1)+fmt.Sprintf(format, args...))
	}
}

func (w *world) retell() string { return strings.Join(w.story, "") }

func (m *message) String() string {
	what := m.attempt.name + " " + m.cmd.Op.String() + "s"
	if m.cmd.Op == redlock.OpConfirm {
		what += fmt.Sprintf(" %d", m.cmd.Token)
	}
	if m.reply != nil {
		what = "the reply to " + what
	}
	return what + " at " + label(m.node)
}

func label(node int) string { return "xyzvw"[node : node+1] }
