package audit

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"berth/internal/api"
	"berth/internal/mcp"
	"berth/internal/seal"
)

// DecisionsKept is how many requests are remembered.
const DecisionsKept = 1000

// Decisions are the last requests, and where each of them went. The methods may be called concurrently; the
// zero value is empty. A nil *Decisions keeps nothing.
type Decisions struct {
	mu   sync.Mutex // guards the fields below
	last [DecisionsKept]decision
	n    int // noted so far
}

// decision is what is kept of a request: values, and strings that are there anyway, as they are but for their length.
type decision struct {
	started          time.Time
	took             time.Duration
	pool, caller     string // caller as limits count it
	method, name     string
	task, session    string // session in clear: its digest is made when somebody asks
	source, upstream string
	outcome          string
	status, attempts int
}

// note remembers a request that has ended. It costs one short lock and no memory.
func (d *Decisions) note(r *Record, e end) {
	if d == nil {
		return
	}
	task, name := r.Task, ""
	if c := r.call.Single(); c != nil {
		task = cmp.Or(c.TaskID, task)
		if c.Method == mcp.MethodCallTool || c.Method == mcp.MethodGetPrompt {
			name = cut(c.Name)
		}
	}
	method, task, upstream := cut(method(r.call)), cut(task), cut(r.Upstream)
	d.mu.Lock()
	defer d.mu.Unlock()
	made := &d.last[d.n%DecisionsKept]
	d.n++
	made.started, made.took = r.call.Began, e.took
	made.pool, made.caller, made.source, made.upstream = r.call.PoolName(), r.call.Caller, string(r.Source), upstream
	made.method, made.name, made.task, made.session = method, name, task, cmp.Or(r.call.Session, r.Session)
	made.outcome, made.status, made.attempts = e.outcome, r.Status, r.attempts
}

// Last returns at most so many of the requests that match, the newest first. Requests wait for as long as it
// takes to copy what is kept.
func (d *Decisions) Last(most int, matches func(*api.Decision) bool) []api.Decision {
	found := []api.Decision{}
	kept := d.copy()
	for i := len(kept) - 1; i >= 0 && len(found) < most; i-- {
		if shown := kept[i].shown(); matches(&shown) {
			found = append(found, shown)
		}
	}
	return found
}

// copy returns what is kept, the oldest first.
func (d *Decisions) copy() []decision {
	if d == nil {
		return nil
	}
	kept := make([]decision, 0, DecisionsKept)
	d.mu.Lock()
	defer d.mu.Unlock()
	if first := d.n % DecisionsKept; d.n > DecisionsKept {
		kept = append(kept, d.last[first:]...)
		return append(kept, d.last[:first]...)
	}
	return append(kept, d.last[:d.n]...)
}

// shown is the decision as operators are told: what access records tell, in their form.
func (d *decision) shown() api.Decision {
	shown := api.Decision{
		At: d.started.UTC(), Took: d.took.Seconds(), Pool: d.pool, Method: clean(d.method), Name: clean(d.name), ID: clean(d.task),
		Source: d.source, Upstream: clean(d.upstream), Outcome: d.outcome, Status: d.status, Attempts: d.attempts,
	}
	if d.session != "" {
		shown.Session = seal.Digest(d.session)
	}
	_, shown.Caller, _ = strings.Cut(d.caller, " ")
	return shown
}
