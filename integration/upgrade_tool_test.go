package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// plainTool is a tool that knows nothing of tasks, in place of a fleet's own: a call ends
// when it is let go, and is counted by the name that its client gave it. It keeps what it
// was called with. The zero value holds all calls.
type plainTool struct {
	// answer, if set, answers a call that was let go, in place of its result. It runs in
	// the request's goroutine.
	answer func(w http.ResponseWriter, r *http.Request, c toolCall)

	// lasts is how long a call takes that nobody lets go; nil: for ever.
	lasts func() time.Duration

	mu      sync.Mutex // guards the fields below
	padding string     // of results
	runs    map[string]int
	hangups map[string]int
	answers int                      // that went out
	authors map[string]string        // Authorization headers
	gates   map[string]chan struct{} // closed for a call that may go
	open    bool                     // all may go, those to come too
	inside  map[place]int            // calls under way
	most    map[place]int            // of these there ever were
}

// toolCall is what a tool may look at of a call.
type toolCall struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Call string `json:"call"`
		} `json:"arguments"`
		Answers map[string]json.RawMessage `json:"inputResponses"` // of a later round
	} `json:"params"`
}

// place is where a call runs.
type place struct{ tool, upstream string }

// enter counts calls that are under way at a place.
func (p *plainTool) enter(at place, more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside == nil {
		p.inside, p.most = map[place]int{}, map[place]int{}
	}
	p.inside[at] += more
	p.most[at] = max(p.most[at], p.inside[at])
}

// wantAtMost fails the test if more calls of a tool were under way at one upstream at a
// time.
func (p *plainTool) wantAtMost(t testing.TB, tool string, n int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, most := range p.most {
		if at.tool == tool && most > n {
			t.Errorf("calls of %s at once at %s: got %d, want at most %d", tool, at.upstream, most, n)
		}
	}
}

// serve is an intercept: it answers calls of every tool.
func (p *plainTool) serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Method") != "tools/call" {
		return false
	}
	var call toolCall
	if err := json.Unmarshal(body, &call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	}
	name := call.Params.Arguments.Call
	at := place{call.Params.Name, r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()}
	p.enter(at, +1)
	let := p.run(r.Context(), name, r.Header.Get("Authorization"))
	p.enter(at, -1) // before its caller can know
	if !let {
		return true
	}
	if p.answer != nil {
		p.answer(w, r, call)
	} else {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, p.result(name))
		_ = http.NewResponseController(w).Flush() // whoever is gone is gone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers++
	return true
}

// only is serve for calls of one tool; a fleet answers the others itself.
func (p *plainTool) only(tool string) intercept {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return r.Header.Get("Mcp-Name") == tool && p.serve(w, r, body)
	}
}

// result is what the tool returns to the call of that name.
func (p *plainTool) result(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%q}],"isError":false}`, "done "+name+p.padding)
}

// pad makes results to come so many bytes longer.
func (p *plainTool) pad(size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.padding = strings.Repeat(".", size)
}

// run counts a call and holds it until it may go. It reports false if the caller hung up
// before.
func (p *plainTool) run(ctx context.Context, name, author string) bool {
	p.mu.Lock()
	if p.runs == nil {
		p.runs, p.hangups, p.authors = map[string]int{}, map[string]int{}, map[string]string{}
	}
	p.runs[name]++
	p.authors[name] = author
	gate := p.gate(name)
	p.mu.Unlock()
	var over <-chan time.Time
	if p.lasts != nil {
		over = time.After(p.lasts())
	}
	select {
	case <-gate:
		return true
	case <-over:
		return true
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hangups[name]++
		return false
	}
}

// gate is what a call waits for. The caller holds the lock.
func (p *plainTool) gate(name string) chan struct{} {
	if p.gates == nil {
		p.gates = map[string]chan struct{}{}
	}
	gate := p.gates[name]
	if gate == nil {
		gate = make(chan struct{})
		p.gates[name] = gate
		if p.open {
			close(gate)
		}
	}
	return gate
}

// let lets calls of these names go.
func (p *plainTool) let(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		if gate := p.gate(name); !isClosed(gate) {
			close(gate)
		}
	}
}

// hold holds what these names call from now on.
func (p *plainTool) hold(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		p.gates[name] = make(chan struct{})
	}
}

// letAll lets every call go.
func (p *plainTool) letAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = true
	for _, gate := range p.gates {
		if !isClosed(gate) {
			close(gate)
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ran tells how often a call of that name was run.
func (p *plainTool) ran(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[name]
}

// hungUp tells how often the caller left a call of that name.
func (p *plainTool) hungUp(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hangups[name]
}

// calledBy is the Authorization header of the last call of that name.
func (p *plainTool) calledBy(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.authors[name]
}

// running counts the calls that were run, of all names.
func (p *plainTool) running() (sum int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.runs {
		sum += n
	}
	return sum
}

// finished counts the calls that were answered.
func (p *plainTool) finished() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers
}

// awaitRuns waits until that many calls were run.
func (p *plainTool) awaitRuns(t testing.TB, n int) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return p.running() >= n }) {
		t.Fatalf("calls that reached the tool: got %d, want %d", p.running(), n)
	}
}

// wantNoneTwice fails the test if a call was run more than once.
func (p *plainTool) wantNoneTwice(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, n := range p.runs {
		if n > 1 {
			t.Errorf("runs of %s: got %d, want at most one", name, n)
		}
	}
}
