package bridge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/bridge/held"
	"berth/proxy/bridge/sessions"
)

// withTask is an upstream whose tool "must" becomes a task, that lives for five minutes.
func withTask(of kind, asks func(k *running)) *upstream {
	of.does = `{"tools":{},"logging":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`
	of.lists = `{"tools":[{"name":"must","execution":{"taskSupport":"required"}},{"name":"asks"}]}`
	u := tool(of, asks)
	const task = `"taskId":"core-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":300000`
	u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if u.session(r) == nil {
			return false
		}
		switch {
		case m.Method == "tools/call" && m.Params.Name == "must":
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"task":{%s}}}`, m.ID, task))
		case m.Method == "tasks/get":
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, task))
		default:
			return false
		}
		return true
	}
	return u
}

// make makes a task, whose id it returns, in a session.
func (r *rig) make(a asking) (id, session string) {
	r.t.Helper()
	a.name, a.declares = "must", declaresTasks
	g := r.do(a)
	_, id, _ = strings.Cut(g.text, `"taskId":"`)
	id, _, _ = strings.Cut(id, `"`)
	calls := r.sent("tools/call")
	if id == "" {
		r.t.Fatalf("got %s", g.text)
	}
	return id, calls[len(calls)-1].session
}

// looks reports what a look at a task comes to.
func (r *rig) looks(id string, a asking) string {
	r.t.Helper()
	a.method, a.declares = "tasks/get", declaresTasks
	a.params, a.header = fmt.Sprintf(`"taskId":%q,`, id), []string{"Mcp-Name", id}
	return r.do(a).text
}

// A client that hangs up ends no session in which tasks of others live, though no new call is sent there.
func TestAHangUpEndsNoSessionWithTasks(t *testing.T) {
	bridged(t, withTask(kind{}, holdsUp), func(o *Options) { o.Isolation = sessions.ForAll }, func(r *rig) {
		id, in := r.make(asking{caller: "alice"})
		r.goneAfter(time.Second, asking{name: "asks", caller: "bob", declares: declaresTasks})
		calls := r.sent("tools/call")
		if calls[len(calls)-1].session != in {
			t.Fatalf("bob's call was sent in %s", calls[len(calls)-1].session)
		}
		time.Sleep(time.Minute)
		if got := r.looks(id, asking{caller: "alice"}); !strings.Contains(got, `"working"`) {
			t.Errorf("afterwards the task is %s", got)
		}
		if _, other := r.make(asking{caller: "bob"}); other == in {
			t.Error("a new call was sent in the session")
		}
	})
}

// Sessions that tasks alone live in keep nobody else out: those of who has most of all count no more, and end with their tasks.
func TestSessionsOfTasksAloneKeepNobodyOut(t *testing.T) {
	bridged(t, withTask(kind{}, where), func(o *Options) { o.Sessions = 3 }, func(r *rig) {
		var ids []string
		for _, asks := range []string{`"roots":{}`, `"sampling":{}`, `"elicitation":{}`} {
			g := r.do(asking{name: "must", caller: "alice", declares: `{` + asks + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`})
			_, id, _ := strings.Cut(g.text, `"taskId":"`)
			id, _, _ = strings.Cut(id, `"`)
			ids = append(ids, id)
			time.Sleep(time.Second)
		}
		if g := r.do(asking{name: "asks", caller: "alice", declares: declaresNone}); g.status != 503 {
			t.Errorf("who has them itself got %d %s", g.status, g.text)
		}
		for _, caller := range []string{"bob", "carol"} {
			if g := r.do(asking{name: "asks", caller: caller}); g.status != 200 {
				t.Errorf("%s got %d %s", caller, g.status, g.text)
			}
		}
		for _, id := range ids {
			if got := r.looks(id, asking{caller: "alice"}); !strings.Contains(got, `"working"`) {
				t.Errorf("a task is %s", got)
			}
		}
		if n := r.b.has().sessions; n != 4 || len(r.open()) != 4 {
			t.Errorf("%d sessions, of which %v are open", n, r.open())
		}
		time.Sleep(10 * time.Minute) // the tasks are over
		if open := r.open(); len(open) != 0 || r.b.has() != (stands{}) {
			t.Errorf("%v are open in the end, %+v", open, r.b.has())
		}
	})
}

// Sessions that are kept for a while for tasks whose end was told keep nobody out, though others go first.
func TestSessionsOfEndedTasksMakeRoom(t *testing.T) {
	for most, stays := range map[int]bool{1: false, 2: true} {
		u := withTask(kind{}, where)
		lives := u.faults
		u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
			if m.Method != "tasks/get" || u.session(r) == nil {
				return lives(w, r, m)
			}
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"taskId":"core-1","status":"cancelled","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":300000}}`, m.ID))
			return true
		}
		bridged(t, u, func(o *Options) { o.Sessions = most }, func(r *rig) {
			id, in := r.make(asking{caller: "alice"})
			if got := r.looks(id, asking{caller: "alice"}); !strings.Contains(got, `"cancelled"`) {
				t.Fatalf("the task is %s", got)
			}
			for _, caller := range []string{"bob", "carol"} {
				time.Sleep(time.Second)
				if g := r.do(asking{name: "asks", caller: caller}); g.status != 200 {
					t.Errorf("of %d, %s got %d %s", most, caller, g.status, g.text)
				}
			}
			synctest.Wait()
			if slices.Contains(r.open(), in) != stays {
				t.Errorf("of %d, %v are open", most, r.open())
			}
		})
	}
}

// Who had most of all once, and whose sessions count no more, does not stand for who has most now.
func TestSessionsOfTasksAloneOfTheNextCallerKeepNobodyOut(t *testing.T) {
	for range 8 { // in whichever order callers are looked at
		bridged(t, withTask(kind{}, where), func(o *Options) { o.Sessions = 5 }, func(r *rig) {
			makes := func(caller string, each ...string) {
				for _, asks := range each {
					g := r.do(asking{name: "must", caller: caller, declares: `{` + asks + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`})
					if g.status != 200 {
						t.Errorf("%s got %d %s", caller, g.status, g.text)
					}
				}
			}
			all := []string{`"roots":{}`, `"sampling":{}`, `"elicitation":{}`}
			makes("alice", all...)
			makes("carol", all[0])
			makes("dave", all[0])
			makes("bob", all...) // which alice's make room for
			makes("erin", all[0])
		})
	}
}

// Nor while one lives that was made by the call itself.
func TestAnotherBerthEndsNoSessionOfTheTaskThatItMade(t *testing.T) {
	bridged(t, asksThenTasks("optional", ""), nil, func(r *rig) {
		r.keeps = true
		_, a, b, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a, declares: declaresTasks})
		if last := r.do(asking{name: "asks", by: b, declares: declaresTasks, params: first.answers(accepted)}); !last.isHandle() {
			t.Fatalf("got %s", last.text)
		}
		in := r.sent("tools/call")[0].session
		time.Sleep(held.Replay + 20*time.Second) // the task lives for 90 s
		if open := r.open(); !slices.Contains(open, in) {
			t.Error("it is not open while the task lives")
		}
		time.Sleep(held.Replay)
		if open := r.open(); slices.Contains(open, in) {
			t.Error("it is open though the task has expired")
		}
	})
}

// A berth that goes on with a call of another's does not end the session while tasks live in it.
func TestAnotherBerthEndsNoSessionWithTasks(t *testing.T) {
	bridged(t, withTask(kind{}, func(k *running) { k.ends(k.ask()) }), nil, func(r *rig) {
		r.keeps = true
		_, a, b, _ := r.join(time.Minute)
		id, in := r.make(asking{by: a})
		first := r.do(asking{name: "asks", by: a, declares: declaresTasks})
		if calls := r.sent("tools/call"); len(first.Result.Requests) != 1 || calls[len(calls)-1].session != in {
			t.Fatalf("got %s", first.text)
		}
		if last := r.do(asking{name: "asks", by: b, declares: declaresTasks, params: first.answers(accepted)}); len(last.Result.Got) != 1 {
			t.Fatalf("got %s", last.text)
		}
		time.Sleep(2 * held.Replay)
		if got := r.looks(id, asking{by: a}); !strings.Contains(got, `"working"`) {
			t.Errorf("afterwards the task is %s", got)
		}
	})
}
