package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// edges are what one lane shows of its bars, or of its bands, row by row: "-" for nothing.
func edges(l lanes, name string, of func(mark) []stretch) string {
	column := slices.IndexFunc(l.Lanes, func(one lane) bool { return one.Name == name })
	var words []string
	for _, row := range l.Rows {
		word := "-"
		for i, s := range of(row.Cells[column]) {
			if i == 0 {
				word = ""
			}
			word += s.Kind
			if s.Edge != "" {
				word += ":" + s.Edge
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func bars(m mark) []stretch  { return m.Bars }
func bands(m mark) []stretch { return m.Bands }

func TestLeaseIsABarThatChangesWhenItIsOverAndEndsWhenItsClientLeaves(t *testing.T) {
	picture := paint(gcPause(false))
	const first = "- lease:begins lease lease lease:endspast:begins past past past past past past past past past:ends"
	if got := edges(picture, "1", bars); got != first {
		t.Errorf("client 1:\n%s, want\n%s", got, first)
	}
	const second = "- - - - - - - lease:begins lease lease lease lease lease:ends -"
	if got := edges(picture, "2", bars); got != second {
		t.Errorf("client 2:\n%s, want\n%s", got, second)
	}
}

func TestLeaseThatIsNotOutstayedHasNoEndOfItsOwn(t *testing.T) {
	h := chaos.History{
		{At: 1 * ms, Actor: "1", Kind: chaos.Acquired, Until: 50 * ms},
		{At: 9 * ms, Actor: "1", Kind: chaos.Left},
		{At: 90 * ms, Actor: "2", Kind: chaos.Asked},
	}
	if got := edges(paint(h), "1", bars); got != "lease:begins lease:ends -" {
		t.Errorf("client 1: %s", got)
	}
}

func TestFaultIsABandUntilItIsUndone(t *testing.T) {
	event := func(actor string, kind chaos.Kind, fault, text string) chaos.Event {
		return chaos.Event{Actor: actor, Kind: kind, Fault: fault, Text: text}
	}
	for _, test := range []struct {
		name, lane, want string
		h                chaos.History
	}{
		{"recorded end", "1", "pause:begins pause:ends -", chaos.History{
			event("1", chaos.Began, "pause", "is stopped"), event("1", chaos.Ended, "pause", "goes on"), event("1", chaos.Asked, "", "")}},
		{"another fault's end", "1", "clock:begins clockpause:begins clockpause:ends", chaos.History{
			event("1", chaos.Began, "clock", ""), event("1", chaos.Began, "pause", ""), event("1", chaos.Ended, "pause", "")}},
		{"who is stopped does nothing", "1", "pause:begins pause pause:ends -", chaos.History{
			event("1", chaos.Began, "", "is stopped for 3s"), event("2", chaos.Asked, "", ""), event("1", chaos.Asked, "", ""), event("1", chaos.Denied, "", "")}},
		{"memory is lost in a moment", "C", "memory:once -", chaos.History{
			event("C", chaos.Began, "", "comes back without the writes of the last 1s"), event("1", chaos.Asked, "", "")}},
		{"a clock stays wrong", "C", "clock:begins clock", chaos.History{
			event("C", chaos.Began, "clock", "its clock is stepped"), event("1", chaos.Asked, "", "")}},
		{"the dead stay dead", "1", "- kill:begins kill", chaos.History{
			event("2", chaos.Asked, "", ""), event("1", chaos.Died, "", "dies (SIGKILL)"), event("2", chaos.Asked, "", "")}},
		{"a kind that nobody knows", "1", "other:once -", chaos.History{
			event("1", chaos.Began, "gremlins", "is stopped"), event("1", chaos.Asked, "", "")}},
	} {
		if got := edges(paint(test.h), test.lane, bands); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestDamageRefusalsAndOverlapsAreMarkedInWords(t *testing.T) {
	marked := func(h chaos.History) (marks []string) {
		for _, row := range paint(h).Rows {
			for _, b := range row.Badges {
				marks = append(marks, b.Text)
			}
		}
		return marks
	}
	if got := marked(gcPause(false)); !slices.Equal(got, []string{"two inside", "lost update", "stale write"}) {
		t.Errorf("without a guard: %q", got)
	}
	if got := marked(gcPause(true)); !slices.Equal(got, []string{"two inside", "refused"}) {
		t.Errorf("with one: %q", got)
	}
	dead := chaos.History{
		{Actor: "1", Kind: chaos.Acquired}, {Actor: "1", Kind: chaos.Died}, {Actor: "2", Kind: chaos.Acquired},
		{Actor: "2", Kind: chaos.Acquired}, {Actor: "2", Kind: chaos.Left}, {Actor: "3", Kind: chaos.Acquired},
	}
	if got := marked(dead); len(got) > 0 {
		t.Errorf("nobody was inside twice, but it says %q", got)
	}
}

func TestLongStoryIsShortenedButItsDamageIsNot(t *testing.T) {
	picture := paint(shopping())
	if n := len(picture.Rows); n > longest+longest/4 {
		t.Errorf("%d rows", n)
	}
	damage, left := false, false
	for _, row := range picture.Rows {
		damage = damage || slices.Contains(row.Badges, badge{"damage", "lost update"})
		left = left || strings.Contains(row.Text, "steps are left out")
	}
	if !damage || !left {
		t.Errorf("the damage is there: %v; it says that something is left out: %v", damage, left)
	}
}

// Stories come from files, and may be of another version of the harness.
func TestAnyHistoryCanBePainted(t *testing.T) {
	strange := []chaos.Event{
		{}, {Kind: "no such kind"}, {Actor: "resource", Kind: chaos.Wrote, Lost: true}, {Actor: "masters", Kind: chaos.Acquired},
		{Actor: "C", Kind: chaos.Acquired, Until: -time.Second}, {Actor: "1", Kind: chaos.Acquired, At: -5, Until: 1 << 62},
		{Actor: "1", Kind: chaos.Left}, {Actor: "1", Kind: chaos.Ended, Fault: "clock"}, {Actor: "\xff", Kind: chaos.Began},
	}
	for i := range strange {
		for j := range strange {
			for k := range strange {
				h := chaos.History{strange[i], strange[j], strange[k]}
				if rows := paint(h).Rows; len(rows) < len(h) {
					t.Fatalf("%v: %d rows", h, len(rows))
				}
			}
		}
	}
	if rows := paint(nil).Rows; len(rows) != 0 {
		t.Errorf("nothing happened, in %d rows", len(rows))
	}
}
