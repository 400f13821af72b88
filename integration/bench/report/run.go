package report

import (
	"encoding/json"
	"fmt"
	"os"
)

// Run is all that was measured in one go.
type Run struct {
	How  string `json:"how"` // on what machine, with what programs, how often
	Rows []Row  `json:"rows"`
}

// Save writes the run to a file, all samples included.
func (r Run) Save(path string) error {
	all, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(all, '\n'), 0o644)
}

// Load reads a run that Save has written.
func Load(path string) (r Run, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("report: %s: %w", path, err)
	}
	return r, nil
}
