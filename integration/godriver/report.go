package main

import (
	"encoding/json"
	"io"
	"sync"
)

// outcome is what became of one call.
type outcome struct {
	polls int64 // tasks/* requests sent
	lost  bool  // one of them, the last, got no good answer
	err   error // nil if the call came back right
}

// report sums outcomes. The JSON names are those of parts/clients/report.js.
type report struct {
	mu sync.Mutex // guards the fields below

	Calls     int      `json:"calls"`
	Right     int      `json:"right"`
	Polls     int64    `json:"polls"`
	LostPolls int      `json:"lostPolls"`
	Errors    []string `json:"errors"`
}

func (r *report) add(o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Calls++
	r.Polls += o.polls
	if o.lost {
		r.LostPolls++
	}
	if o.err != nil {
		r.Errors = append(r.Errors, o.err.Error())
		return
	}
	r.Right++
}

func (r *report) ok() bool { return r.Right == r.Calls && r.LostPolls == 0 }

func (r *report) print(w io.Writer) error { return json.NewEncoder(w).Encode(r) }
