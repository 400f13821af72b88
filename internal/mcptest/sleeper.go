package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// naps is how many parts a sleep has; before each of them its progress is told.
const naps = 10

// sleeperMethods are the requests that a Sleeper serves.
var sleeperMethods = []string{"server/discover", "tools/list", "tools/call"}

// A Sleeper is a server (2026-07-28) without a line of task code. Its one tool, sleep,
// keeps its caller waiting, and tells it the progress if it gave a token for that. The
// zero value serves; set Name before the first request. It must not be copied.
type Sleeper struct {
	// Name is what the server calls itself in every tool result.
	Name string

	mu      sync.Mutex // guards the fields below
	running int
	atOnce  int
	runs    int
}

// Runs is how often the tool was run: counted when it starts.
func (s *Sleeper) Runs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// AtOnce is how many runs there were at a time, at most.
func (s *Sleeper) AtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.atOnce
}

// ServeHTTP answers one request.
func (s *Sleeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		methodNotAllowed(w, "POST")
		return
	}
	if !originAllowed(r.Header.Get("Origin")) {
		http.Error(w, "origin not allowed", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, nil, refusal{http.StatusRequestEntityTooLarge, failure{Code: codeInvalidRequest, Message: "body too large"}})
		return
	}
	c, fail := parseCall(body)
	if fail != nil {
		refuse(w, nil, refusal{http.StatusBadRequest, *fail})
		return
	}
	s.serve(w, r, c)
}

func (s *Sleeper) serve(w http.ResponseWriter, r *http.Request, c call) {
	if !c.isRequest() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if no := refuseModern(r.Header, c, sleeperMethods); no != nil {
		refuse(w, c.ID, *no)
		return
	}
	switch c.Method {
	case "server/discover":
		writeJSON(w, http.StatusOK, answer(c.ID, s.discovery(), nil))
	case "tools/list":
		writeJSON(w, http.StatusOK, answer(c.ID, cacheable(map[string]any{"tools": []tool{sleepTool()}}), nil))
	default:
		stream := openStream(w, newID())
		result, fail := s.run(r.Context(), c, stream)
		stream.send(answer(c.ID, result, fail))
	}
}

func (s *Sleeper) discovery() any {
	return cacheable(map[string]any{
		"supportedVersions": []string{modernVersion},
		"capabilities":      map[string]any{"tools": struct{}{}},
		"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{
			"name": s.Name, "title": "berth demonstration server without tasks", "version": "1.0.0",
		}},
	})
}

func sleepTool() tool {
	return tool{
		Name:        "sleep",
		Description: "Takes its time.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`),
		Annotations: annotations{ReadOnly: true},
	}
}

// run runs the tool to its end, or until its caller hangs up.
func (s *Sleeper) run(ctx context.Context, c call, stream *eventStream) (any, *failure) {
	args, fail := parseArguments(c)
	if fail != nil {
		return nil, fail
	}
	if c.Params.Name != "sleep" {
		return nil, &failure{Code: codeInvalidParams, Message: fmt.Sprintf("unknown tool %q", c.Params.Name)}
	}
	s.began()
	defer s.ended()
	for i := range naps {
		if token := c.Params.Meta.ProgressToken; token != nil {
			stream.send(notification("notifications/progress", map[string]any{
				"progressToken": token, "progress": i, "total": naps,
			}))
		}
		if err := pause(ctx, args.duration()/naps, nil); err != nil {
			return nil, &failure{Code: codeInternal, Message: err.Error()}
		}
	}
	return s.slept(args), nil
}

func (s *Sleeper) slept(args arguments) toolResult {
	return toolResult{
		Content:    []content{{Type: "text", Text: fmt.Sprintf("slept for %v on %s", args.duration().Round(time.Millisecond), s.Name)}},
		Structured: structured{Instance: s.Name, Label: args.Label},
	}.complete()
}

func (s *Sleeper) began() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	s.running++
	s.atOnce = max(s.atOnce, s.running)
}

func (s *Sleeper) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}
