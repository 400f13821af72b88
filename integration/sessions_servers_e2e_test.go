//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	demofleet "berth/internal/mcptest"
)

// askingServer is a legacy server whose plain tools' calls outlive their connections, with
// calls that its tools take.
type askingServer struct {
	name  string
	fleet func(t testing.TB, n int) fleet
	rules string

	asking func(call string) toolUse // asks once
	slow   func(call string) toolUse // takes two seconds, and tells of its progress

	others []func(call string) toolUse // more that its tools can do; nil: nothing

	// askAt is how many events a call's answer has up to its question.
	askAt int

	// replaysAll is whether a stream that is resumed replays what was said on all others of the session: a question of another
	// call may be shown in this one too, before the berth that holds that call has told of it.
	replaysAll bool
}

// toolUse is one call of a tool.
type toolUse struct {
	tool      string
	arguments map[string]any
	want      func(task string) string // what the result has in it; questions are answered with the task's id
	asks      int
}

// fixed is what a result has in it, whatever its task is called.
func fixed(text string) func(string) string { return func(string) string { return text } }

// ownName is what a result has in it that is about the answer.
func ownName(task string) string { return task }

// askingServers are those whose streams can be resumed.
var askingServers = []askingServer{
	{
		name: "server-everything", fleet: everythingFleet, askAt: 2, replaysAll: true,
		rules: "[[upgrade]]\ntools = [\"trigger-*\"]\npoll_interval = \"100ms\"\n",
		asking: func(call string) toolUse {
			return toolUse{"trigger-elicitation-request", map[string]any{"call": call},
				func(task string) string { return "- Name: " + task }, 1}
		},
		slow: func(call string) toolUse {
			return toolUse{"trigger-long-running-operation", map[string]any{"duration": 2, "steps": 10, "call": call}, fixed("Duration: 2 seconds, Steps: 10"), 0}
		},
		others: []func(string) toolUse{func(call string) toolUse {
			return toolUse{"trigger-sampling-request", map[string]any{"prompt": call}, ownName, 1}
		}},
	},
	{
		name:  "SDK v1 with its example's event store",
		fleet: func(t testing.TB, n int) fleet { return interactiveFleet(t, n, exampleReplays) },
		rules: allTools, askAt: 2,
		asking: confirmation(`Deleted '%s'`), slow: computation, others: interactiveUses,
	},
	{
		name:  "SDK v1 that refuses what it cannot replay",
		fleet: func(t testing.TB, n int) fleet { return interactiveFleet(t, n, strictReplays) },
		rules: allTools, askAt: 2,
		asking: confirmation(`Deleted '%s'`), slow: computation, others: interactiveUses,
	},
	{
		name:  "go-sdk with an event store",
		fleet: func(t testing.TB, n int) fleet { return sessionsFleet(t, n, true) },
		rules: allTools, askAt: 2,
		asking: confirmation(`%s deleted`), slow: computation, others: []func(string) toolUse{twoQuestions},
	},
	demoServer,
}

var demoServer = askingServer{
	name: "the demo's fleet", askAt: 4,
	fleet: func(t testing.TB, n int) fleet { return errandFleet(t, n, nil).fleet },
	rules: allTools, asking: askingErrand, slow: slowErrand,
}

const allTools = "[[upgrade]]\ntools = [\"*\"]\npoll_interval = \"100ms\"\n"

func confirmation(want string) func(string) toolUse {
	return func(call string) toolUse {
		return toolUse{"confirm_delete", map[string]any{"filename": call}, fixed(fmt.Sprintf(want, call)), 1}
	}
}

// interactiveUses are what else parts/servers/interactive-tools.js can do.
var interactiveUses = []func(string) toolUse{
	twoQuestions,
	func(call string) toolUse { return toolUse{"write_haiku", map[string]any{"topic": call}, ownName, 1} },
	func(call string) toolUse {
		return toolUse{"interrupted_job", map[string]any{"label": call}, fixed(call + " done"), 0}
	},
}

func twoQuestions(call string) toolUse {
	return toolUse{"multi_input", map[string]any{"label": call}, func(task string) string { return task + " and " + task }, 2}
}

func computation(call string) toolUse {
	return toolUse{"slow_compute", map[string]any{"label": call, "seconds": 2}, fixed(call + " done"), 0}
}

func slowErrand(call string) toolUse {
	return toolUse{"errand", map[string]any{"label": call, "seconds": 2}, fixed(call + ", done on"), 0}
}

func askingErrand(call string) toolUse {
	return toolUse{"errand", map[string]any{"label": call, "steps": 1, "asks": []string{"elicitation"}}, ownName, 1}
}

// errands is a fleet of the demo's servers, in this process.
type errands struct {
	fleet
	servers []*demofleet.Server
}

// errandFleet starts n of the demo's servers that know no tasks, with sessions and streams
// that can be resumed. Their counts are told as other servers tell theirs.
func errandFleet(t testing.TB, n int, between intercept) errands {
	t.Helper()
	skipShort(t)
	var e errands
	for i := range n {
		name := string(rune('a' + i))
		noted := &errandNotes{between: between}
		server := &demofleet.Server{Name: name, Taskless: true, Errands: true, Resumable: true, Intercept: noted.note}
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/__stats" {
				_ = json.NewEncoder(w).Encode(noted.stats(server)) // whoever asked sees that it is cut off
				return
			}
			server.ServeHTTP(w, r)
		}))
		t.Cleanup(func() {
			server.Close()
			front.CloseClientConnections()
			front.Close()
		})
		e.servers = append(e.servers, server)
		e.fleet = append(e.fleet, &instance{process: &process{name: name}, base: front.URL})
	}
	return e
}

// errandNotes are the names of the calls that reached a server.
type errandNotes struct {
	between intercept

	mu   sync.Mutex // guards seen
	seen map[string]bool
}

func (l *errandNotes) note(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var call struct {
		Params struct{ Arguments struct{ Label string } }
	}
	if json.Unmarshal(body, &call) == nil && call.Params.Arguments.Label != "" {
		l.mu.Lock()
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[call.Params.Arguments.Label] = true
		l.mu.Unlock()
	}
	return l.between != nil && l.between(w, r, body)
}

// stats counts executions, those too that are under way.
func (l *errandNotes) stats(s *demofleet.Server) (counts stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for label := range l.seen {
		n := s.ExecutionsOf(label)
		counts.ToolCalls += n
		counts.Repeats += max(0, n-1)
	}
	return counts
}
