package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// save writes a file of JSON, whole or not at all.
func save(what, path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	return write(what, path, append(data, '\n'))
}

// write writes a file, whole or not at all, and its folder if there is none.
func write(what, path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	temporary := path + ".tmp"
	if err = os.WriteFile(temporary, data, 0o644); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return fmt.Errorf("save %s: %w", what, err)
	}
	return nil
}

// load reads a file of JSON.
func load[T any](what, path string) (v T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return v, fmt.Errorf("load %s: %w", what, err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("load %s: %s: %w", what, path, err)
	}
	return v, nil
}
