package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// Lanes are a history as a picture: time goes down, a row for each event; a column for each client, each master that
// something happened to, all masters together, and the resource.
type lanes struct {
	Lanes  []lane
	Groups []laneGroup
	Rows   []laneRow
	Faults []string // the kinds of its bands
}

// A laneGroup is some lanes side by side with one head.
type laneGroup struct {
	Name  string
	Width int
}

type lane struct {
	Name  string // "1", "C", "masters", "resource"
	Title string
	Kind  string // client, master, resource
}

// A laneRow is one event.
type laneRow struct {
	Time   string // in seconds, "" for a row that stands for others
	Text   string
	Gap    int     // how long until the next: 0 for no time to speak of, to 4
	Badges []badge // what the reader must not miss
	Cells  []mark  // one for each lane
	Kind   string  // of the event, as a class
}

type badge struct{ Class, Text string }

// A mark is what a row has in one lane.
type mark struct {
	Bands []stretch // faults under way
	Bars  []stretch // of a client that is inside
	Dot   string    // class of the event that happened here, "" for none
	Text  string    // of a dot that has one
	Wire  string    // what happened is between two lanes, and this is the first of them, the last, or between; "" for none
}

// A stretch is the part of a bar or a band that is in one row.
type stretch struct {
	Kind string // of a band: of fault; of a bar: lease, or past, when its client is inside still and its lease is over
	Edge string // begins, ends, once (both), "" for goes on
	Text string // a short word where it begins
}

const (
	masters  = "masters" // the lane of all of them
	resource = "resource"
)

// painter makes the picture of a history.
type painter struct {
	lanes  lanes
	column map[string]int
}

// paint makes the picture of a history.
func paint(h chaos.History) lanes {
	p := painter{column: map[string]int{}}
	p.addLanes(h)
	events := withLeaseEnds(h)
	for i, e := range events {
		row := laneRow{Time: seconds(e.At), Text: sentence(e), Kind: class(e.Kind), Cells: make([]mark, len(p.lanes.Lanes))}
		if i+1 < len(events) {
			row.Gap = gap(events[i+1].At - e.At)
		}
		p.lanes.Rows = append(p.lanes.Rows, row)
	}
	for _, s := range faultSpans(events) {
		p.lanes.Faults = appendNew(p.lanes.Faults, s.kind)
		p.draw(s, func(m *mark) *[]stretch { return &m.Bands })
	}
	for _, s := range staySpans(events) {
		p.draw(s, func(m *mark) *[]stretch { return &m.Bars })
	}
	inside := map[string]bool{}
	for i, e := range events {
		p.dots(&p.lanes.Rows[i], e)
		if comesIn(e) || goesOut(e) {
			delete(inside, e.Actor)
		}
		if comesIn(e) {
			if len(inside) > 0 {
				p.lanes.Rows[i].Badges = append(p.lanes.Rows[i].Badges, badge{"overlap", "two inside"})
			}
			inside[e.Actor] = true
		}
	}
	p.lanes.Rows = shorten(p.lanes.Rows)
	return p.lanes
}

// draw puts a span into the rows that it goes through.
func (p *painter) draw(s span, of func(*mark) *[]stretch) {
	column, known := p.column[s.actor]
	if !known {
		return
	}
	for i := s.from; i <= s.to; i++ {
		part := stretch{Kind: s.kind}
		switch {
		case s.from == s.to && !s.open:
			part.Edge = "once"
		case i == s.from:
			part.Edge = "begins"
		case i == s.to && !s.open:
			part.Edge = "ends"
		}
		if i == s.from {
			part.Text = s.text
		}
		all := of(&p.lanes.Rows[i].Cells[column])
		*all = append(*all, part)
	}
}

// addLanes finds out who takes part.
func (p *painter) addLanes(h chaos.History) {
	var clients, own []string
	for _, e := range h {
		switch {
		case e.Actor == "":
		case isMaster(e.Actor):
			own = appendNew(own, e.Actor)
		default:
			clients = appendNew(clients, e.Actor)
		}
	}
	slices.SortFunc(clients, func(a, b string) int {
		m, _ := strconv.Atoi(a)
		n, _ := strconv.Atoi(b)
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b))
	})
	slices.Sort(own)
	add := func(name, title, kind string) {
		p.column[name] = len(p.lanes.Lanes)
		p.lanes.Lanes = append(p.lanes.Lanes, lane{name, title, kind})
	}
	for _, name := range clients {
		add(name, "client "+name, "client")
	}
	for _, name := range own {
		add(name, "master "+name, "master")
	}
	add(masters, "all masters", "master")
	add(resource, "resource", "resource")
	p.lanes.Lanes[p.column[masters]].Name, p.lanes.Lanes[p.column[resource]].Name = "all", ""
	p.lanes.Groups = []laneGroup{{"clients", len(clients)}, {"masters", len(own) + 1}, {"resource", 1}}
}

// dots marks what happened where.
func (p *painter) dots(row *laneRow, e chaos.Event) {
	from, known := p.column[e.Actor]
	if !known {
		return
	}
	row.Cells[from].Dot = row.Kind
	to, text := "", ""
	switch e.Kind {
	case chaos.Acquired:
		to, text = masters, "grant"
	case chaos.Denied, chaos.GaveUp:
		to, text = masters, "no"
	case chaos.Read:
		to, text = resource, fmt.Sprintf("read %d", e.Value)
	case chaos.Wrote:
		to, text = resource, fmt.Sprintf("write %d", e.Value)
	case chaos.Refused:
		to, text = resource, "refused"
		row.Badges = append(row.Badges, badge{"refused", "refused"})
	default:
		return
	}
	if e.Lost {
		row.Badges = append(row.Badges, badge{"damage", "lost update"})
	}
	if e.Stale {
		row.Badges = append(row.Badges, badge{"damage", "stale write"})
	}
	end := &row.Cells[p.column[to]]
	end.Dot, end.Text = row.Kind, text
	if e.Lost || e.Stale {
		end.Dot = "damage"
	}
	for i := from + 1; i < p.column[to]; i++ {
		row.Cells[i].Wire = "between"
	}
	row.Cells[from].Wire, end.Wire = "first", "last"
}

// class is a kind as the name of a style.
func class(k chaos.Kind) string {
	switch k {
	case chaos.GaveUp:
		return "denied"
	case leaseOver:
		return "over"
	case chaos.Asked, chaos.Acquired, chaos.Denied, chaos.Checked, chaos.Left, chaos.Died, chaos.Read, chaos.Wrote, chaos.Refused,
		chaos.Began, chaos.Ended, chaos.Said:
		return string(k)
	}
	return "said"
}

// gap is a time as a distance in the picture: one step for each power of ten.
func gap(d time.Duration) int {
	n := 0
	for least := 10 * time.Millisecond; d >= least && n < 4; least *= 4 {
		n++
	}
	return n
}

// longest is how many rows a picture has at most before it is shortened.
const longest = 60

// shorten leaves out of a long story what is like the rest of it: not its beginning nor its end, and no faults nor damage.
func shorten(rows []laneRow) []laneRow {
	if len(rows) <= longest {
		return rows
	}
	var short []laneRow
	left := 0
	for i, row := range rows {
		plain := len(row.Badges) == 0 && row.Kind != string(chaos.Began) && row.Kind != string(chaos.Ended) && row.Kind != string(chaos.Died)
		if i >= longest/2 && i < len(rows)-longest/4 && (plain || len(short) >= longest) {
			left++
			continue
		}
		short = append(short, leftOut(row, &left)...)
		short = append(short, row)
	}
	return short
}

// leftOut is a row that stands for those that were left out before this one.
func leftOut(before laneRow, n *int) []laneRow {
	if *n == 0 {
		return nil
	}
	stand := laneRow{Text: fmt.Sprintf("… %d steps are left out here; the command below tells them all.", *n), Kind: "cut", Cells: make([]mark, len(before.Cells))}
	*n = 0
	return []laneRow{stand}
}
