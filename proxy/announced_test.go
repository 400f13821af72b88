package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcp"
	"berth/internal/mcptest"
	"berth/sticky"
)

const noMethod = `"error":{"code":-32601,"message":"Method not found"}`

// refusesTasks answers everything about tasks as a server does that has none: with this
// status, or as an event.
func refusesTasks(status int, events bool) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if !strings.HasPrefix(methodIn(body), "tasks/") {
			return false
		}
		answer := response(body, noMethod)
		if events {
			return say(eventsType, "event: message\ndata: "+answer+"\n\n")(w, r, body)
		}
		return sayStatus(status, jsonType, answer)(w, r, body)
	}
}

// plainlyWithoutTasks answers everything about tasks as servers of Go's SDK do, which have none.
func plainlyWithoutTasks(w http.ResponseWriter, r *http.Request, body []byte) bool {
	method := methodIn(body)
	return strings.HasPrefix(method, "tasks/") && sayStatus(400, "text/plain; charset=utf-8", fmt.Sprintf("JSON RPC not handled: %q unsupported\n", method))(w, r, body)
}

// Who says in plain words that it has no such method knows no task: where all say so, the id is unknown. Of other plain words nobody knows
// what they say.
func TestServersWithoutTasksDenyInPlainWords(t *testing.T) {
	for name, tc := range map[string]struct {
		says faultFunc
		want int
	}{
		"no such method": {plainlyWithoutTasks, -32602},
		"other words":    {onMethod("tasks/get", sayStatus(400, "text/plain", "no")), -31503},
	} {
		f := newRig(t, rigOptions{size: 2})
		for _, s := range f.servers {
			s.inject(tc.says)
		}
		if r := f.legacy("", "tasks/get", byID("zz")); r.code() != tc.want {
			t.Errorf("%s: got %v, want %d", name, r, tc.want)
		}
	}
}

// TestAnnouncedTasksAreServed: where berth told a session's client that there are tasks, one
// that is not there is unknown. That the server behind has no such method concerns nobody.
func TestAnnouncedTasksAreServed(t *testing.T) {
	for name, says := range map[string]faultFunc{
		"JSON":       refusesTasks(200, false),
		"404":        refusesTasks(404, false),
		"400":        refusesTasks(400, false),
		"an event":   refusesTasks(200, true),
		"in words":   plainlyWithoutTasks,
		"the server": nil,
	} {
		for _, principals := range []bool{false, true} {
			o := rigOptions{server: taskless, size: 1}
			if principals {
				o = listed(o)
			}
			f := newUpgraded(t, o, nil)
			sessions := []string{"", f.opens("alice")}
			if b, err := f.bindings.Reload(t.Context(), f.router.SessionKey(map[bool]string{true: "alice"}[principals], sessions[1])); err != nil || b.Tasks != sticky.TasksAdded {
				t.Fatalf("%s: not announced: %+v, %v", name, b, err)
			}
			f.servers[0].inject(says)
			for _, session := range sessions {
				for _, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask} {
					for _, params := range []string{byID("nowhere"), ""} {
						if r := f.as("alice", session, method, params); r.status != 200 || r.message(t).Error == nil || r.message(t).Error.Code != -32602 {
							t.Errorf("%s, principals %v, session %v: %s %s: got %v, want 200 -32602", name, principals, session != "", method, params, r)
						}
					}
				}
			}
			if name == "in words" && !principals {
				continue // these concern the server alone
			}
			if r := f.as("alice", sessions[1], "tasks/update", byID("nowhere")); !principals && r.message(t).Error.Code != -32601 {
				t.Errorf("%s: a method that core does not have: got %v", name, r)
			}
			list, want := f.as("alice", sessions[1], "tasks/list", ""), map[bool]int{false: -32601, true: 0}[principals]
			if list.status != 200 || list.code() != want {
				t.Errorf("%s, principals %v: a list: got %v, want 200 and %d", name, principals, list, want)
			}
		}
	}
}

// TestUnannouncedTasksAreTheServersAffair: what a server says of its own, or of a revision
// that has no tasks, stays.
func TestUnannouncedTasksAreTheServersAffair(t *testing.T) {
	f := newUpgraded(t, rigOptions{size: 1, server: func(s *mcptest.Server) {}}, nil)
	own := f.initialize()
	older := f.legacy("", "initialize", `"protocolVersion":"2025-06-18"`).header.Get("Mcp-Session-Id")
	f.servers[0].inject(refusesTasks(200, false))
	for _, session := range []string{own, older} {
		if r := f.legacy(session, "tasks/get", byID("nowhere")); r.code() != -32601 {
			t.Errorf("got %v, want what the server says", r)
		}
	}
}

// A request about a task that names none is refused where berth has announced the extension, and nobody is sent it. Elsewhere
// it is the servers' affair.
func TestAnnouncedExtensionDemandsTaskIDs(t *testing.T) {
	for _, rules := range []bool{true, false} {
		var f *rig
		if rules {
			f = newUpgraded(t, rigOptions{size: 1, server: taskless}, nil).rig
		} else {
			f = newRig(t, rigOptions{size: 1, server: taskless})
		}
		f.servers[0].inject(refusesTasks(404, false))
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			want := map[bool][3]int{true: {200, -32602, 0}, false: {404, -32601, 1}}[rules]
			r := f.do(f.request(t.Context(), http.MethodPost, modernMessage(method, `"inputResponses":{}`), modernHeader(method, "")...))
			if got := [3]int{r.status, r.code(), f.servers[0].Calls(method)}; got != want {
				t.Errorf("%s, rules %v: got %v and %d requests at the server, want %v", method, rules, r, got[2], want)
			}
		}
	}
}

// TestAnnouncedExtensionIsServed: and so are tasks of the extension.
func TestAnnouncedExtensionIsServed(t *testing.T) {
	f := newUpgraded(t, rigOptions{size: 2, server: taskless}, nil)
	if r := f.modern("server/discover", "", ""); !strings.Contains(r.body, `"io.modelcontextprotocol/tasks":{}`) {
		t.Fatalf("not announced: %v", r)
	}
	for _, status := range []int{404, 400, 200} {
		for _, s := range f.servers {
			s.inject(refusesTasks(status, false))
		}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if r := f.modern(method, "nowhere", byID("nowhere")+`,"inputResponses":{}`); r.status != 200 || r.code() != -32602 {
				t.Errorf("%s, where servers say %d: got %v, want 200 -32602", method, status, r)
			}
		}
	}
}
