package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Mutant is one seeded bug: a replacement of text in one source file of the project.
type Mutant struct {
	Name   string
	About  string // one line: what is wrong with it
	File   string // from the module's root
	Old    string // occurs there exactly once
	New    string
	Caught string // by which property of chaos/mutants/hunt
}

// Apply writes the mutated file and, beside it, the file for the -overlay flag of the go command that puts it in place
// of the original. root is the module's, dir a folder to write to. It fails if the old text does not occur exactly once:
// then the source has changed, and the mutant has to follow.
func (m Mutant) Apply(root, dir string) (overlay string, err error) {
	original, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		return "", fmt.Errorf("mutant %s: its old text occurs %d times in %s, want 1:\n%s", m.Name, n, m.File, m.Old)
	}
	mutated := filepath.Join(dir, m.Name+".go")
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o644); err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	overlay = filepath.Join(dir, m.Name+".overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	return overlay, nil
}
