package report

import (
	"github.com/b6e7cabe/quorumlock/chaos"
)

// Key tells the cells of a run apart.
type Key struct {
	World    string      `json:"world"`
	Scheme   string      `json:"scheme"`
	Fault    string      `json:"fault"` // of a live run: the scenario
	Guard    chaos.Guard `json:"guard"`
	Workload string      `json:"workload"`
}

// Key returns what tells the cell apart.
func (c Cell) Key() Key { return Key{c.World, c.Scheme, c.Fault, c.Guard, c.Workload} }

// A Story is one run of a cell, told: of a live cell its only run, of a simulated one the shortest that breaks. A file of
// stories is the content of stories.json.
type Story struct {
	Key
	Title    string        `json:"title"`
	Source   string        `json:"source,omitempty"` // whose argument it is
	About    string        `json:"about,omitempty"`  // one line
	Events   chaos.History `json:"events"`
	Steps    []string      `json:"steps"`    // the events in words, in order
	Injected []string      `json:"injected"` // the faults, with the proof that each took effect
	Replay   string        `json:"replay"`   // the command that does it again
}

// Tell makes the story of a cell from the history of its run.
func Tell(c Cell, title, source, about string, h chaos.History) Story {
	s := Story{Key: c.Key(), Title: title, Source: source, About: about, Events: h, Replay: c.Replay}
	for _, e := range h {
		s.Steps = append(s.Steps, seconds(e.At)+" s: "+sentence(e))
		if e.Kind == chaos.Began || e.Kind == chaos.Died {
			s.Injected = append(s.Injected, seconds(e.At)+" s: "+sentence(e))
		}
	}
	return s
}

// SaveStories writes stories.json, whole or not at all.
func SaveStories(path string, stories []Story) error { return save("the stories", path, stories) }

// LoadStories reads stories.json.
func LoadStories(path string) ([]Story, error) { return load[[]Story]("the stories", path) }
