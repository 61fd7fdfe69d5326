package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/b6e7cabe/quorumlock/chaos"
)

// seconds is a time of a run to the millisecond.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// isMaster reports whether an actor's name is a master's; clients have numbers.
func isMaster(actor string) bool { return len(actor) == 1 && actor[0] >= 'A' && actor[0] <= 'Z' }

// who is an actor in words.
func who(actor string) string {
	switch {
	case actor == "":
		return ""
	case isMaster(actor):
		return "master " + actor
	}
	return "client " + actor
}

// sentence is an event in plain words.
func sentence(e chaos.Event) string {
	text := strings.TrimSpace(e.Text)
	what := text
	switch e.Kind {
	case chaos.Asked:
		what = "asks for the lock"
	case chaos.Acquired:
		what = "has the lock"
		if e.Until != 0 {
			what += " until " + seconds(e.Until) + " s"
		}
		if e.Token != 0 {
			what += fmt.Sprintf(", token %d", e.Token)
		}
	case chaos.Denied:
		what = "is not given the lock" + after(": ", text)
	case chaos.GaveUp:
		what = "gives up: it has waited for fifty leases"
	case chaos.Checked:
		what = "looks at its lease" + after(": ", text)
	case chaos.Left:
		what = "leaves" + after(": ", text)
	case chaos.Read:
		what = fmt.Sprintf("reads %d", e.Value)
	case chaos.Wrote:
		what = fmt.Sprintf("writes %d", e.Value)
		if e.Lost {
			what += " over what it has not read (a lost update)"
		}
		if e.Stale {
			what += " with an older token than was seen before (a stale write)"
		}
	case chaos.Refused:
		what = "is refused by the resource" + after(": ", text)
	default:
		if text == "" {
			what = string(e.Kind)
		}
		if strings.HasPrefix(text, "its ") {
			return capital(who(e.Actor) + ": " + text)
		}
	}
	return capital(strings.TrimSpace(who(e.Actor) + " " + what))
}

func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

func capital(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// faults are the kinds of faults, each with the word for it in a narrow lane, and with words that give it away in the
// text of an event that does not name its kind.
var faults = []struct {
	kind, short string
	words       []string
}{
	{"partition", "cut", []string{"cut off", "reaches"}},
	{"packet", "net", []string{"held up", "is lost", "packet", "reply", "request"}},
	{"memory", "mem", []string{"empty", "without the writes", "evict", "flush", "forget", "power"}},
	{"clock", "clock", []string{"clock"}},
	{"kill", "kill", []string{"kill", "dies", "restart", "crash", "started"}},
	{"pause", "pause", []string{"stopped", "goes on", "hang", "pause", "suspend", "wakes"}},
}

// faultOf is the kind of fault that an event is about, and the short word for it; "other" if it cannot be told.
func faultOf(e chaos.Event) (kind, short string) {
	for _, f := range faults {
		if e.Fault == f.kind {
			return f.kind, f.short
		}
	}
	for _, f := range faults {
		for _, word := range f.words {
			if e.Fault == "" && strings.Contains(e.Text, word) {
				return f.kind, f.short
			}
		}
	}
	return "other", "fault"
}
