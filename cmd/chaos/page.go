package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/b6e7cabe/quorumlock/chaos/report"
	"github.com/b6e7cabe/quorumlock/chaos/sim"
)

// What a run leaves in its folder.
const (
	resultsFile = "results.json"
	storiesFile = "stories.json"
	pageFile    = "report.html"
)

// keep writes all of it.
func keep(folder string, r report.Results, stories []report.Story) error {
	return errors.Join(
		r.Save(filepath.Join(folder, resultsFile)),
		report.SaveStories(filepath.Join(folder, storiesFile), stories),
		report.SaveHTML(filepath.Join(folder, pageFile), r, stories))
}

// storiesOf loads the stories that are beside a file of results, if there are any.
func storiesOf(results string) ([]report.Story, error) {
	stories, err := report.LoadStories(filepath.Join(filepath.Dir(results), storiesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return stories, err
}

// tellBreak is the story of the shortest break that a search has found; false if it has found none.
func tellBreak(c sim.Cell, f sim.Finding) (report.Story, bool) {
	if f.Worst == nil {
		return report.Story{}, false
	}
	outcome := sim.Run(c.Scheme, *f.Worst, nil)
	return report.Tell(cellOf(c, f), c.Fault.Name, "", c.Fault.About, outcome.History), true
}

// machine is what the results say of where and how they were made.
func machine() *report.Run {
	return &report.Run{CPU: cpu(), Command: strings.Join(append([]string{"chaos"}, os.Args[1:]...), " ")}
}

// cpu is the model of the processor, as far as the system tells.
func cpu() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, model, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return runtime.GOARCH
}
