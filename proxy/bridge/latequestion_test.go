package bridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// asksName is a question that says of no task that it is of that.
const asksName = `{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"mode":"form","message":"name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`

const atWork = `"status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":600000`

// makesTasks is an upstream whose tool makes tasks. They are at work, whatever they ask. run runs before the task is handed out.
func makesTasks(of kind, run func(u *upstream)) *upstream {
	var u *upstream
	of.does = `{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`
	of.lists = `{"tools":[{"name":"asks","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`
	u = tool(of, func(k *running) {
		run(u)
		k.result = u.handle()
	})
	u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tasks/get" {
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"taskId":"core-1",%s}}`, m.ID, atWork))
		}
		return m.Method == "tasks/get"
	}
	return u
}

// handle is what the call has come to that has begun last: each of them a task of its own.
func (u *upstream) handle() string {
	return fmt.Sprintf(`"result":{"task":{"taskId":"core-%d",%s}}`, len(u.sent("tools/call")), atWork)
}

// task is what an answer says of a task.
type task struct {
	ID, Status string
	Asks       []string // keys of questions
}

func (g got) task() (t task) {
	var m struct {
		Result struct {
			TaskID, Status string
			InputRequests  map[string]json.RawMessage
		}
	}
	_ = json.Unmarshal([]byte(g.text), &m)
	t.ID, t.Status = m.Result.TaskID, m.Result.Status
	for key := range m.Result.InputRequests {
		t.Asks = append(t.Asks, key)
	}
	return t
}

func (r *rig) ofTask(method, id, params string) got {
	return r.do(asking{method: method, declares: declaresTasks, params: fmt.Sprintf(`"taskId":%q,`, id) + params, header: []string{mcp.HeaderName, id}})
}

// What a server asks on its session's own stream around the moment at which it hands out a task is the task's, whether it says so or not: its
// client is asked it, and nobody answers in its place.
func TestAQuestionAroundAHandleIsOfItsTask(t *testing.T) {
	ask := func(u *upstream) { u.say(fmt.Sprintf(asksName, "q")) }
	nothing := func(*upstream) {}
	for name, tt := range map[string]struct {
		of   kind
		run  func(u *upstream) // before the handle
		then func(u *upstream) // behind it
		cuts bool              // the answer's headers come first, then the question, then its body
	}{
		"just before it":                    {run: ask, then: nothing},
		"just before it, answered as JSON":  {of: kind{whole: true}, run: ask, then: nothing},
		"a moment before it":                {of: kind{plain: true}, run: func(u *upstream) { ask(u); time.Sleep(10 * time.Millisecond) }, then: nothing},
		"a moment before it, as JSON":       {of: kind{whole: true}, run: func(u *upstream) { ask(u); time.Sleep(10 * time.Millisecond) }, then: nothing},
		"between the answer's head and end": {run: ask, then: nothing, cuts: true},
		"behind it":                         {run: nothing, then: ask},
		"long behind it":                    {run: nothing, then: func(u *upstream) { time.Sleep(time.Minute); ask(u) }},
	} {
		t.Run(name, func(t *testing.T) {
			u := makesTasks(tt.of, tt.run)
			if polls := u.faults; tt.cuts {
				u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
					if m.Method != "tools/call" {
						return polls(w, r, m)
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(200)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(10 * time.Millisecond)
					tt.run(u)
					time.Sleep(10 * time.Millisecond)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, u.handle())
					return true
				}
			}
			bridged(t, u, nil, func(r *rig) {
				handle := r.do(asking{name: "asks", declares: declaresTasks})
				if !handle.isHandle() {
					t.Fatalf("got %d %s", handle.status, handle.text)
				}
				tt.then(u)
				synctest.Wait()
				id := handle.task().ID
				for range 2 {
					if got := r.ofTask(mcp.MethodGetTask, id, "").task(); got.Status != "input_required" || !slices.Equal(got.Asks, []string{"ask-q"}) || len(r.told()) != 0 {
						t.Fatalf("got %+v, and the server was told %v", got, r.told())
					}
				}
				r.ofTask(mcp.MethodUpdateTask, id, `"inputResponses":{"ask-q":`+accepted+`},`)
				if told := r.told(); len(told) != 1 || told[0] != `{"jsonrpc":"2.0","id":"q","result":`+accepted+`}` {
					t.Errorf("the server was told %v", told)
				}
				if got := r.ofTask(mcp.MethodGetTask, id, "").task(); got.Status != "working" {
					t.Errorf("in the end got %+v", got)
				}
			})
		})
	}
}

// What a server withdraws that it has asked on its session's own stream, the task asks no more.
func TestAQuestionOfATaskIsWithdrawnWhereItWasAsked(t *testing.T) {
	u := makesTasks(kind{}, func(*upstream) {})
	bridged(t, u, nil, func(r *rig) {
		id := r.do(asking{name: "asks", declares: declaresTasks}).task().ID
		for _, q := range []string{"q", "other"} {
			u.say(fmt.Sprintf(asksName, q))
		}
		synctest.Wait()
		u.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		synctest.Wait()
		if got := r.ofTask(mcp.MethodGetTask, id, "").task(); !slices.Equal(got.Asks, []string{"ask-other"}) || len(r.told()) != 0 {
			t.Errorf("got %+v, and the server was told %v", got, r.told())
		}
	})
}

// What could be any of several tasks' is refused at once, and what no client could answer.
func TestAQuestionOfAnyTaskIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks    int
		question string
		code     string
	}{
		"of two":     {2, fmt.Sprintf(asksName, "q"), `-32603`},
		"unreadable": {1, `{"jsonrpc":"2.0","id":"q","method":"no/such"}`, `-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			u := makesTasks(kind{}, func(*upstream) {})
			bridged(t, u, nil, func(r *rig) {
				for range tt.tasks {
					r.do(asking{name: "asks", declares: declaresTasks})
				}
				session := r.sent("tools/call")[tt.tasks-1].session
				u.say(tt.question, session)
				synctest.Wait()
				if told := r.told(); len(told) != 1 || !strings.Contains(told[0], `"id":"q","error":{"code":`+tt.code) {
					t.Errorf("the server was told %v", told)
				}
			})
		})
	}
}

// Of several tasks it is the one's that has not ended, as the server says, though no client was told of the others' end.
func TestAQuestionIsOfTheTaskThatHasNotEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string // what the server says of them
		asks          int    // the first or the second; 0: neither
	}{
		"the first has":  {"completed", "working", 2},
		"the second has": {"working", "cancelled", 1},
		"neither has":    {"working", "working", 0},
		"both have":      {"completed", "completed", 0},
		"one is silent":  {"working", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			says := map[string]string{"core-1": tt.first, "core-2": tt.second}
			u := makesTasks(kind{}, func(*upstream) {})
			u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != "tasks/get" {
					return false
				}
				member := fmt.Sprintf(`"result":{"taskId":%q,%s}`, m.Params.TaskID, strings.Replace(atWork, "working", says[m.Params.TaskID], 1))
				if says[m.Params.TaskID] == "" {
					member = `"error":{"code":-32603,"message":"no"}`
				}
				respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member))
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				var ids []string
				for range 2 {
					ids = append(ids, r.do(asking{name: "asks", declares: declaresTasks}).task().ID)
				}
				if calls := r.sent("tools/call"); calls[0].session != calls[1].session {
					t.Fatal("they have a session each")
				}
				u.say(fmt.Sprintf(asksName, "q"))
				synctest.Wait()
				if told := r.told(); (len(told) == 0) != (tt.asks > 0) {
					t.Errorf("the server was told %v", told)
				}
				if tt.asks > 0 {
					if got := r.ofTask(mcp.MethodGetTask, ids[tt.asks-1], "").task(); !slices.Equal(got.Asks, []string{"ask-q"}) {
						t.Errorf("got %+v", got)
					}
				}
			})
		})
	}
}

// While a call runs in the session of a task, what names neither is asked in the call, but not of another caller's.
func TestAQuestionWhileACallRunsInTheSessionOfATask(t *testing.T) {
	for isolation, told := range map[Isolation]int{"principal": 0, "all": 1} {
		t.Run(string(isolation), func(t *testing.T) {
			u := makesTasks(kind{}, func(u *upstream) {
				if len(u.sent("tools/call")) == 2 {
					u.say(fmt.Sprintf(asksName, "q"))
					time.Sleep(time.Second)
				}
			})
			bridged(t, u, func(o *Options) { o.Isolation = isolation }, func(r *rig) {
				first := r.do(asking{name: "asks", declares: declaresTasks})
				second := r.do(asking{name: "asks", declares: declaresTasks})
				calls := r.sent("tools/call")
				if !first.isHandle() || calls[0].session != calls[1].session {
					t.Fatalf("got %s", first.text)
				}
				if asks := second.Result.Type == "input_required"; asks != (told == 0) || len(r.told()) != told || told == 1 && !strings.Contains(r.told()[0], `"error":{"code":-32603`) {
					t.Errorf("got %s, and the server was told %v", second.text, r.told())
				}
				if got := r.ofTask(mcp.MethodGetTask, first.task().ID, "").task(); got.Status != "working" {
					t.Errorf("the first task is %+v", got)
				}
			})
		})
	}
}

// A berth that has gone on with a call of another's hears what the call's task asks.
func TestAQuestionOfATaskThatAnotherBerthMade(t *testing.T) {
	u := asksThenTasks("required", "")
	u.faults = makesTasks(kind{}, nil).faults
	bridged(t, u, nil, func(r *rig) {
		r.keeps = true
		_, a, b, c := r.join(time.Minute)
		round := r.do(asking{name: "asks", declares: declaresTasks, by: a})
		handle := r.do(asking{name: "asks", declares: declaresTasks, by: b, params: round.answers(accepted)})
		if !handle.isHandle() {
			t.Fatalf("got %s", handle.text)
		}
		told := len(r.told())
		time.Sleep(time.Minute)
		u.say(fmt.Sprintf(asksName, "q"))
		synctest.Wait()
		id := handle.task().ID
		got := r.do(asking{method: mcp.MethodGetTask, declares: declaresTasks, params: fmt.Sprintf(`"taskId":%q,`, id), header: []string{mcp.HeaderName, id}, by: c}).task()
		if !slices.Equal(got.Asks, []string{"ask-q"}) || len(r.told()) != told {
			t.Errorf("got %+v, and the server was told %v", got, r.told())
		}
	})
}
