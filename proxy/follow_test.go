package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// serves has the instance answer each method with its fault; what has none it answers
// itself.
func (f *upgraded) serves(faults map[string]faultFunc) {
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		f.seen.note(r, body)
		fault := faults[methodIn(body)]
		return fault != nil && fault(w, r, body)
	})
}

// looksAtTokens refuses what bears none, whichever it is.
func looksAtTokens(w http.ResponseWriter, r *http.Request, body []byte) bool {
	return r.Header.Get("Authorization") == "" && sayStatus(http.StatusUnauthorized, jsonType, `{}`)(w, r, body)
}

// inTurnSay answers the n-th request with the n-th result, and those after with the last.
func inTurnSay(results ...string) faultFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return sayResult(results[min(int(n.Add(1)), len(results))-1])(w, r, body)
	}
}

// theirs is a state of the upstream's task.
func theirs(status, more string) string {
	return `{"resultType":"complete","taskId":"their/ task","status":"` + status + `","createdAt":"2026-11-21T00:00:00Z","lastUpdatedAt":"2026-11-21T00:00:00Z","ttlMs":60000` + more + `}`
}

var theirHandle = strings.Replace(theirs("working", `,"pollIntervalMs":10`), `"complete"`, `"task"`, 1)

// What calls itself a task and names none is no result: clients would look for a task in it.
func TestTaskWithoutAnIDFailsTheTask(t *testing.T) {
	for name, result := range map[string]string{
		"none":      `{"resultType":"task","status":"working"}`,
		"empty":     `{"resultType":"task","taskId":"","status":"working","content":[]}`,
		"no string": `{"status":"working","taskId":7,"resultType":"task"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.answers(sayResult(result))
				v := f.reaches(f.made(), "failed")
				if !strings.Contains(string(v.Error), `"reason":"bad_upstream_response"`) || v.Result != nil {
					t.Errorf("got %s, %s", v.Error, v.Result)
				}
			})
		})
	}
}

// A server that makes a task though it was not asked to is asked how it goes, and the
// client has one task: berth's.
func TestTaskMadeUnaskedIsFollowed(t *testing.T) {
	for shape, handle := range map[string]faultFunc{
		"JSON": sayResult(theirHandle),
		"event": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(eventsType, "data: "+response(body, `"result":`+theirHandle)+"\n\n")(w, r, body)
		},
	} {
		t.Run(shape, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{
					"tools/call": handle,
					"tasks/get": inTurnSay(theirs("working", `,"pollIntervalMs":60000,"statusMessage":"half\nway"`),
						theirs("completed", `,"result":{"content":[],"isError":true,"x": 1}`)),
				})
				began := time.Now()
				id := f.made("Authorization", "Bearer one")
				time.Sleep(10 * time.Second)
				if v := f.look(id, "Authorization", "Bearer one"); v.Status != "working" || v.StatusMessage != "half way" {
					t.Errorf("on the way: %+v", v)
				}
				f.reachesBy(id, "completed", began.Add(30250*time.Millisecond))
				v := f.look(id, "Authorization", "Bearer one")
				if string(v.Result) != `{"resultType":"complete","content":[],"isError":true,"x": 1}` || v.TaskID != id {
					t.Errorf("got %+v", v)
				}
				polls := f.seen.of("tasks/get")
				if len(polls) != 2 {
					t.Fatalf("%d polls, want 2: after 250ms, and after 30s", len(polls))
				}
				p := polls[0]
				_, declares := p.msg.Params.Meta["io.modelcontextprotocol/clientCapabilities"]
				if p.header.Get("Mcp-Method") != "tasks/get" || p.header.Get("Mcp-Name") != "their/ task" || p.header.Get("Authorization") != "Bearer one" ||
					p.msg.Params.TaskID != "their/ task" || !declares || !strings.Contains(p.body, "modelcontextprotocol/tasks") {
					t.Errorf("polled with %v %s", p.header, p.body)
				}
				if strings.Contains(f.seen.of("tools/call")[0].body, "modelcontextprotocol/tasks") {
					t.Error("the held call declares the extension")
				}
			})
		})
	}
}

// A task may have ended by the time that its handle is given out, which does not tell how.
func TestTaskMadeUnaskedMayHaveEnded(t *testing.T) {
	const failure = `{"code":-32099,"message":"broke","data":{"a": 1}}`
	for status, c := range map[string]struct{ poll, outcome string }{
		"completed": {theirs("completed", `,"result":`+done), done},
		"failed":    {theirs("failed", `,"error":`+failure), failure},
	} {
		t.Run(status, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{
					"tools/call": sayResult(strings.Replace(theirs(status, ""), `"complete"`, `"task"`, 1)),
					"tasks/get":  sayResult(c.poll),
				})
				v := f.reaches(f.made(), status)
				if string(v.Result)+string(v.Error) != c.outcome {
					t.Errorf("got %s %s, want %s", v.Result, v.Error, c.outcome)
				}
				if n := len(f.seen.of("tasks/get")); n != 1 {
					t.Errorf("%d polls, want one", n)
				}
			})
		})
	}
}

// reachesBy lets time pass until then, and wants the status at that moment.
func (f *upgraded) reachesBy(id, status string, then time.Time) {
	f.t.Helper()
	time.Sleep(time.Until(then))
	synctest.Wait()
	if v := f.look(id, "Authorization", "Bearer one"); v.Status != status {
		f.t.Errorf("the task is %+v, want %s", v, status)
	}
}

// What the upstream's task asks for is asked for by ours, and answered with an update.
func TestFollowedTaskAsksAndIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		server := theirState{asking: `"k":{"method":"elicitation/create","params":{"message":"?"}}`}
		f.serves(map[string]faultFunc{
			"server/discover": looksAtTokens,
			"tools/call":      sayResult(theirHandle),
			"tasks/get":       server.tell,
			"tasks/update":    server.take(1),
		})
		id := f.made("Authorization", "Bearer one")
		v := f.reaches(id, "input_required", "Authorization", "Bearer one")
		if len(v.InputRequests) != 1 || v.InputRequests["k"] == nil {
			t.Fatalf("got %+v", v)
		}
		time.Sleep(time.Minute)
		if n := len(f.seen.of("tasks/get")); n < 6 || n > 10 {
			t.Errorf("polled %d times in the minute in which it waits for its client", n)
		}
		f.answer(id, `{"k":{"action":"accept"}}`, "Authorization", "Bearer two")
		v = f.reaches(id, "completed", "Authorization", "Bearer one")
		if string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
		updates := f.seen.of("tasks/update")
		if len(updates) != 1 || len(f.seen.of("tools/call")) != 1 {
			t.Fatalf("%d updates and %d calls, want one of each", len(updates), len(f.seen.of("tools/call")))
		}
		u := updates[0]
		if u.header.Get("Authorization") != "Bearer two" || u.header.Get("Mcp-Method") != "tasks/update" || string(u.msg.Params.InputResponses["k"]) != `{"action":"accept"}` {
			t.Errorf("updated with %v %s", u.header, u.body)
		}
	})
}

// However the upstream's task ends, ours does.
func TestFollowedTaskEndsAsItsOwn(t *testing.T) {
	const failure = `{"code":-32099,"message":"broke","data":{"a": 1}}`
	for name, c := range map[string]struct {
		poll             faultFunc
		status, contains string
	}{
		"failed":           {sayResult(theirs("failed", `,"error":`+failure)), "failed", failure},
		"cancelled":        {sayResult(theirs("cancelled", "")), "cancelled", ""},
		"unknown there":    {sayError(`{"code":-32602,"message":"Task not found"}`), "failed", `{"code":-32602,"message":"Task not found"}`},
		"without a result": {sayResult(theirs("completed", "")), "failed", "bad_upstream_response"},
		"another task":     {sayResult(strings.Replace(theirs("completed", `,"result":`+done), "their/ task", "other", 1)), "failed", "bad_upstream_response"},
		"refused again":    {sayStatus(http.StatusForbidden, "text/plain", "no"), "failed", "403 Forbidden"},
		"an outage in between": {inTurnFault(
			sayStatus(http.StatusServiceUnavailable, "text/plain", "no"), reset, sayError(`{"code":-31503,"message":"later"}`), sayResult(theirs("completed", `,"result":`+done)),
		), "completed", done},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": c.poll})
				id := f.made()
				time.Sleep(10 * time.Minute)
				v := f.look(id)
				if v.Status != c.status || !strings.Contains(string(v.Result)+string(v.Error), c.contains) {
					t.Errorf("got %s %s %s, want %s with %s", v.Status, v.Result, v.Error, c.status, c.contains)
				}
				if n := len(f.seen.of("tasks/cancel")); n != 0 {
					t.Errorf("%d cancels for a task that had ended", n)
				}
			})
		})
	}
}

func inTurnFault(faults ...faultFunc) faultFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return faults[min(int(n.Add(1)), len(faults))-1](w, r, body)
	}
}

// A cancelled task gives up the one that it follows, also while nobody holds it, with the
// credentials of who cancels it.
func TestCancelReachesTheFollowedTask(t *testing.T) {
	for _, status := range []string{"working", "input_required"} {
		t.Run(status, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{
					"server/discover": looksAtTokens,
					"tools/call":      sayResult(theirHandle),
					"tasks/get":       sayResult(theirs(status, `,"inputRequests":{"k":{"method":"roots/list"}}`)),
					"tasks/cancel":    sayResult(`{"resultType":"complete"}`),
				})
				id := f.made("Authorization", "Bearer one")
				f.eventually("a poll", func() bool { return len(f.seen.of("tasks/get")) > 0 })
				f.reaches(id, status, "Authorization", "Bearer one")
				f.modern("tasks/cancel", id, byID(id), "Authorization", "Bearer two")
				f.eventually("a cancel", func() bool { return len(f.seen.of("tasks/cancel")) == 1 })
				if c := f.seen.of("tasks/cancel")[0]; c.msg.Params.TaskID != "their/ task" || c.header.Get("Authorization") != "Bearer two" || c.header.Get("Mcp-Name") != "their/ task" {
					t.Errorf("cancelled with %v %s", c.header, c.body)
				}
				if v := f.look(id, "Authorization", "Bearer one"); v.Status != "cancelled" {
					t.Errorf("the task is %s", v.Status)
				}
				if all := f.seen.of("tasks/cancel"); slices.ContainsFunc(all[1:], func(round) bool { return true }) {
					t.Errorf("%d cancels", len(all))
				}
			})
		})
	}
}

// takes has the instance answer who bears this token, and 401 to all others.
func takes(token string, answer faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Header.Get("Authorization") == token {
			return answer(w, r, body)
		}
		return sayStatus(http.StatusUnauthorized, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"expired"}}`)(w, r, body)
	}
}

// A task that its upstream does not tell of any more says that its tool may have run: the upstream had taken it on.
func TestFollowedTaskThatIsNotToldOfMayHaveRun(t *testing.T) {
	for says, poll := range map[string]faultFunc{
		"401 Unauthorized":      takes("Bearer two", sayResult(theirHandle)),
		"403 Forbidden":         sayStatus(http.StatusForbidden, "text/plain", "no"),
		"429 Too Many Requests": sayStatus(http.StatusTooManyRequests, "text/plain", "no"),
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": poll})
				id := f.made("Authorization", "Bearer one")
				time.Sleep(10 * time.Minute)
				v := f.look(id, "Authorization", "Bearer one")
				if got := string(v.Error); v.Status != "failed" || !strings.Contains(got, says) || !strings.Contains(got, `"outcome":"unknown"`) {
					t.Errorf("got %s %s", v.Status, got)
				}
			})
		})
	}
}

// Once the upstream refuses the credentials of a call it is asked for its task with those of the caller's last poll.
func TestFollowedTaskIsAskedForWithNewerCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.serves(map[string]faultFunc{
			"server/discover": looksAtTokens,
			"tools/call":      sayResult(theirHandle),
			"tasks/get":       takes("Bearer two", sayResult(theirs("completed", `,"result":`+done))),
		})
		id := f.made("Authorization", "Bearer one")
		f.eventually("a refused poll", func() bool { return len(f.seen.of("tasks/get")) > 0 })
		synctest.Wait()
		f.look(id, "Authorization", "Bearer two")
		if v := f.reaches(id, "completed", "Authorization", "Bearer one"); string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
		polls := f.seen.of("tasks/get")
		if first := polls[0].header.Get("Authorization"); first != "Bearer one" {
			t.Errorf("polled first with %q", first)
		}
	})
}

// Who knows the id of a task that nobody authorised is let in, and authorises nothing of it.
func TestFollowedTaskOfNobodysIsAskedForWithNobodysCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": takes("Bearer two", sayResult(theirHandle))})
		id := f.made()
		f.eventually("a refused poll", func() bool { return len(f.seen.of("tasks/get")) > 0 })
		synctest.Wait()
		f.look(id, "Authorization", "Bearer two")
		time.Sleep(time.Minute)
		for _, poll := range f.seen.of("tasks/get") {
			if poll.header.Get("Authorization") != "" {
				t.Error("polled with another's credentials")
			}
		}
	})
}

// What the server says of how its task stands is said of ours, whichever way that stands.
func TestFollowedTaskSaysWhatItsServerSays(t *testing.T) {
	for status, more := range map[string]string{
		"completed": `,"result":` + done, "failed": `,"error":{"code":-32099,"message":"broke"}`, "cancelled": "",
		"input_required": `,"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?"}}}`,
	} {
		t.Run(status, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": sayResult(theirs(status, more+`,"statusMessage":"so it is"`))})
				if v := f.reaches(f.made(), status); v.StatusMessage != "so it is" {
					t.Errorf("got %q", v.StatusMessage)
				}
			})
		})
	}
}
