package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Plan is all that a run depends on. Its text, which [Plan.String] writes and [ParsePlan] reads, is what a person copies
// to see the run again.
type Plan struct {
	Scheme   string
	Fault    string // the kind that was searched with
	Guard    chaos.Guard
	Workload chaos.Workload
	Clients  int
	Rounds   int           // how often each client wants the lock
	Work     time.Duration // how long it works under the lock, by its own clock, between its read and its write; may be 0
	Seed     uint64
	Faults   []Injection
}

// Injection is one fault, at one step of one client.
type Injection struct {
	Client string
	Step   int // of that client, from 1
	Fault  string
	Node   string        // which master, "" if it is not about one
	Amount time.Duration // how long, or how far, 0 if it is not about that
}

func (i Injection) String() string {
	s := fmt.Sprintf("%s@%d:%s", i.Client, i.Step, i.Fault)
	if i.Node != "" {
		s += "," + i.Node
	}
	if i.Amount != 0 {
		s += "," + i.Amount.String()
	}
	return s
}

func (p Plan) String() string {
	load := fmt.Sprintf("%dx%d", p.Clients, p.Rounds)
	if p.Work != 0 {
		load += "x" + p.Work.String()
	}
	words := []string{p.Scheme, p.Fault, string(p.Guard), string(p.Workload), load, strconv.FormatUint(p.Seed, 10)}
	for _, i := range p.Faults {
		words = append(words, i.String())
	}
	return strings.Join(words, " ")
}

// ParsePlan reads what Plan.String has written.
func ParsePlan(text string) (Plan, error) {
	words := strings.Fields(text)
	if len(words) < 6 {
		return Plan{}, fmt.Errorf("plan %q: want SCHEME FAULT GUARD WORKLOAD CLIENTSxROUNDS[xWORK] SEED, then faults", text)
	}
	p := Plan{Scheme: words[0], Fault: words[1], Guard: chaos.Guard(words[2]), Workload: chaos.Workload(words[3])}
	clients, rounds, _ := strings.Cut(words[4], "x")
	rounds, work, worked := strings.Cut(rounds, "x")
	if worked {
		d, err := time.ParseDuration(work)
		if err != nil || d < 0 {
			return Plan{}, fmt.Errorf("plan %q: %q is no time to work", text, work)
		}
		p.Work = d
	}
	var err1, err2, err3 error
	p.Clients, err1 = strconv.Atoi(clients)
	p.Rounds, err2 = strconv.Atoi(rounds)
	p.Seed, err3 = strconv.ParseUint(words[5], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || p.Clients < 1 || p.Clients > maxClients || p.Rounds < 1 || p.Rounds > maxRounds {
		return Plan{}, fmt.Errorf("plan %q: %q and %q are not 1 to %d clients x 1 to %d rounds and a seed", text, words[4], words[5], maxClients, maxRounds)
	}
	if _, err := chaos.GuardByName(words[2]); err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	if _, err := chaos.WorkloadByName(words[3]); err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", text, err)
	}
	for _, word := range words[6:] {
		i, err := parseInjection(word)
		if err != nil {
			return Plan{}, fmt.Errorf("plan %q: %w", text, err)
		}
		if client, err := strconv.Atoi(i.Client); err != nil || client < 1 || client > p.Clients {
			return Plan{}, fmt.Errorf("plan %q: fault %q: there is no client %s", text, word, i.Client)
		}
		p.Faults = append(p.Faults, i)
	}
	return p, nil
}

const (
	maxClients = 9
	maxRounds  = 9
)

func parseInjection(word string) (Injection, error) {
	bad := fmt.Errorf("fault %q: want CLIENT@STEP:FAULT[,MASTER][,DURATION]", word)
	where, what, ok := strings.Cut(word, ":")
	var i Injection
	var step string
	i.Client, step, _ = strings.Cut(where, "@")
	n, err := strconv.Atoi(step)
	if !ok || err != nil {
		return i, bad
	}
	i.Step = n
	fields := strings.Split(what, ",")
	i.Fault = fields[0]
	kind, err := injectionByName(i.Fault)
	if err != nil {
		return i, err
	}
	for _, field := range fields[1:] {
		switch d, err := time.ParseDuration(field); {
		case err == nil:
			i.Amount = d
		case len(field) == 1 && field[0] >= 'A' && field[0] < 'A'+masterCount:
			i.Node = field
		default:
			return i, bad
		}
	}
	if kind.onMaster != (i.Node != "") || !kind.amount.fits(i.Amount) {
		return i, bad
	}
	return i, nil
}

// Draw makes the plan of a seed. The workload is drawn too, unless the cell has one.
func (c Cell) Draw(seed uint64) Plan {
	p := c.draw(rand.New(rand.NewPCG(seed, 1)))
	p.Seed = seed
	return p
}

// draw makes a plan but for its seed.
func (c Cell) draw(d dice) Plan {
	p := Plan{
		Scheme: c.Scheme.Name, Fault: c.Fault.Name, Guard: c.Guard, Workload: c.Workload,
		Clients: 2 + d.IntN(2), Rounds: 1 + d.IntN(2),
	}
	if all := chaos.Workloads(); p.Workload == "" {
		p.Workload = all[d.IntN(len(all))]
	}
	p.Work = time.Duration(min(d.IntN(4), 1)*d.IntN(200)) * time.Millisecond // else two are seldom inside for long enough to meet
	c.Fault.Draw(&drawing{d, c.Scheme.Masters, &p})
	return p
}

// dice are what a plan is drawn with: a seed's random numbers, or those of a property test, which makes them small.
type dice interface {
	IntN(n int) int // 0 to n-1
	Perm(n int) []int
}

// drawing is a plan in the making.
type drawing struct {
	dice
	masters int
	plan    *Plan
}

// add injects a fault somewhere.
func (d *drawing) add(fault, node string, amount time.Duration) {
	steps := 10 + 3*d.masters // of an acquire, a section and a release
	d.plan.Faults = append(d.plan.Faults, Injection{
		Client: strconv.Itoa(1 + d.IntN(d.plan.Clients)), Step: 1 + d.IntN(steps), Fault: fault, Node: node, Amount: amount,
	})
}

// node returns a master that the scheme uses.
func (d *drawing) node() string { return string(rune('A' + d.IntN(d.masters))) }

// length returns a time between one and three leases, in whole milliseconds; half of them just over one, since that is
// when the next holder has just come in.
func (d *drawing) length() time.Duration {
	most := TTL / 2
	if d.IntN(2) == 0 {
		most = 2 * TTL
	}
	return TTL + time.Duration(d.IntN(int(most/time.Millisecond)))*time.Millisecond
}

// separate cuts each client off from up to a minority of the masters, in half of the plans, so that they meet on few.
func (d *drawing) separate() {
	if d.masters < 3 || d.IntN(2) == 0 {
		return
	}
	for client := 1; client <= d.plan.Clients; client++ {
		for _, node := range d.Perm(d.masters)[:d.masters/2] {
			d.plan.Faults = append(d.plan.Faults, Injection{
				Client: strconv.Itoa(client), Step: 1, Fault: "cut", Node: string(rune('A' + node)),
			})
		}
	}
}
