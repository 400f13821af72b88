// Package report is what the drivers of this module say of their calls: one line of
// JSON, as those in parts/clients do.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Outcome is what became of one call.
type Outcome struct {
	Polls int64 // tasks/* requests sent
	Lost  bool  // one of them, the last, got no good answer
	Err   error // nil if the call came back right
}

// Report sums outcomes. The JSON names are those of parts/clients/report.js.
type Report struct {
	mu sync.Mutex // guards the fields below

	Calls     int      `json:"calls"`
	Right     int      `json:"right"`
	Polls     int64    `json:"polls"`
	LostPolls int      `json:"lostPolls"`
	Errors    []string `json:"errors"`
}

// Run makes so many calls, all at once, and prints the report of them. ok says that all
// came back right.
func Run(w io.Writer, calls int, call func(i int) Outcome) (ok bool, err error) {
	report := new(Report)
	var running sync.WaitGroup
	for i := range calls {
		running.Go(func() { report.add(call(i)) })
	}
	running.Wait()
	if err := json.NewEncoder(w).Encode(report); err != nil {
		return false, fmt.Errorf("printing the report: %w", err)
	}
	return report.Right == report.Calls && report.LostPolls == 0, nil
}

func (r *Report) add(o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Calls++
	r.Polls += o.Polls
	if o.Lost {
		r.LostPolls++
	}
	if o.Err != nil {
		r.Errors = append(r.Errors, o.Err.Error())
		return
	}
	r.Right++
}
