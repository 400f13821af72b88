package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// A task is shown flat, with the times in milliseconds, and never with its outcome.
func TestCoreTaskThroughItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		for outcome, want := range map[string]string{
			`"result":{"content":[]}`:                    "completed",
			`"result":{"content":[],"isError":true}`:     "failed: the tool reports that it failed; its result says more",
			`"error":{"code":-32050,"message":"no way"}`: "failed: no way",
		} {
			id, call := f.made(session, func(c *upgrade.Creation) { c.TTL = 90 * time.Second; c.Rule.MaxTTL = time.Hour })
			v := f.look(session, id)
			if v.TaskID != id || v.Status != "working" || *v.TTL != 90_000 || *v.PollInterval != 1000 || v.CreatedAt == "" || v.LastUpdatedAt == "" {
				t.Errorf("made: %+v", v)
			}
			call.progress(`"progress":1,"total":2,"message":"on it"`)
			synctest.Wait()
			if v := f.look(session, id); v.Status != "working" || v.StatusMessage != "1/2: on it" {
				t.Errorf("under way: %+v", v)
			}
			call.ends(outcome)
			synctest.Wait()
			r := f.legacy(session, "tasks/get", byID(id))
			v = r.coreView(t)
			if got := strings.TrimSuffix(v.Status+": "+v.StatusMessage, ": "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			var m struct{ Result map[string]any }
			_ = json.Unmarshal([]byte(r.body), &m)
			for _, no := range []string{"result", "error", "resultType", "task", "ttlMs", "_meta", "inputRequests"} {
				if _, there := m.Result[no]; there {
					t.Errorf("%s in %s", no, r.body)
				}
			}
		}
	})
}

// Whoever asks sees one task, in the dialect that it speaks.
func TestTaskIsSeenInBothDialects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		if v := f.upgraded.look(id); v.Status != "working" || v.ResultType != "complete" || v.TTLMs == 0 {
			t.Errorf("a task of core, to the extension: %+v", v)
		}
		call.ask(`7`)
		synctest.Wait()
		if v := f.upgraded.look(id); v.Status != "working" || v.InputRequests != nil {
			t.Errorf("what its session alone can answer, to the extension: %+v", v)
		}
		call.ends(`"result":{"content":[],"isError":true}`)
		synctest.Wait()
		if v := f.upgraded.look(id); v.Status != "completed" || string(v.Result) != `{"resultType":"complete","content":[],"isError":true}` {
			t.Errorf("its end: %+v %s", v, v.Result)
		}
		other := f.upgraded.made()
		(<-f.tool.calls).ends(`"result":{"resultType":"complete","content":[]}`)
		synctest.Wait()
		if v := f.look(session, other); v.Status != "completed" {
			t.Errorf("a task of the extension, to core: %+v", v)
		}
		if r := f.legacy(session, "tasks/result", byID(other)); r.body != response1(`"result":{"resultType":"complete","content":[],`+related(other)+`}`) {
			t.Errorf("its result: %v", r)
		}
	})
}

// What a call of 2025-11-25 asks while it runs is answered in its session alone. A client of
// the extension that was shown it would answer by tasks/update, for ever.
func TestQuestionsInMidCallAreNotOfTheExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		call.ask("7")
		f.reaches(session, id, "input_required")
		if r := f.poll(id); !strings.Contains(r.body, `"status":"working"`) || strings.Contains(r.body, "inputRequests") {
			t.Errorf("to the extension: %v", r)
		}
	})
}

// A cancel is answered with the task, once it is cancelled; what has ended stays as it is.
func TestCancelOfACoreTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		refused := func(id, status string) {
			t.Helper()
			want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Cannot cancel task: already in terminal status '` + status + `'"}}`
			if r := f.legacy(session, "tasks/cancel", byID(id)); r.status != 200 || r.body != want {
				t.Errorf("got %v, want %s", r, want)
			}
			if v := f.look(session, id); v.Status != status {
				t.Errorf("then it is %s, want %s", v.Status, status)
			}
		}
		id, _ := f.made(session)
		if v := f.legacy(session, "tasks/cancel", byID(id)).coreView(t); v.TaskID != id || v.Status != "cancelled" {
			t.Errorf("got %+v", v)
		}
		refused(id, "cancelled")
		for outcome, status := range map[string]string{`"result":{}`: "completed", `"result":{"isError":true}`: "failed", `"error":{"code":1,"message":"x"}`: "failed"} {
			id, call := f.made(session)
			call.ends(outcome)
			synctest.Wait()
			refused(id, status)
		}
	})
}

// What the revision does not have is not told by whose the task is, nor by whether there is
// one: own, foreign and unknown ids get one answer, in a session and in none, in both eras.
func TestMethodsThatTasksDoNotHaveTellNothing(t *testing.T) {
	for name, principals := range map[string]bool{"nobody told apart": false, "principals": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := rigOptions{}
				if principals {
					o = listed(o)
				}
				f := newCoreRig(t, o, nil)
				session := f.opens("alice")
				ids := []string{"nobodys"}
				for _, who := range []string{"alice", "bob"} {
					if !principals {
						who = ""
					}
					id, _ := f.made("", func(c *upgrade.Creation) { c.Principal = who })
					ids = append(ids, id)
				}
				for _, method := range []string{"tasks/update", "tasks/delete", "tasks/other", "tasks/result"} {
					var core, modern []string
					for _, id := range ids {
						time.Sleep(10 * time.Second) // no question to the fleet is remembered
						for _, in := range []string{session, ""} {
							if method != "tasks/result" { // core has that one
								r := f.as("alice", in, method, byID(id))
								core = append(core, fmt.Sprint(in, r.status, r.header, r.body))
							}
						}
						if method != "tasks/update" { // the extension has that one
							r := f.modern(method, id, byID(id), userHeader, "alice")
							modern = append(modern, fmt.Sprint(r.status, r.header, r.body))
						}
					}
					for i := range core {
						core[i] = withoutDate(core[i])
						if core[i] != core[i%2] {
							t.Errorf("%s: %s, and of nobody's %s", method, core[i], core[i%2])
						}
					}
					for i := range modern {
						if modern[i] = withoutDate(modern[i]); modern[i] != modern[0] {
							t.Errorf("modern %s: %s, and of nobody's %s", method, modern[i], modern[0])
						}
					}
				}
				if v := f.as("alice", session, "tasks/get", byID(ids[1])).coreView(t); v.Status != "working" {
					t.Errorf("alice's own: %+v", v)
				}
			})
		})
	}
}

// withoutDate is a printed answer without the time at which it was given.
func withoutDate(answer string) string {
	return regexp.MustCompile(`Date:\[[^\]]*\]`).ReplaceAllString(answer, "")
}

// Another's task is told of as none is, in each way to ask.
func TestAnothersCoreTaskIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{principals: true, options: trustLoopback}, nil)
		id, _ := f.made("", func(c *upgrade.Creation) { c.Principal = "alice" })
		gone, _ := f.made("", func(c *upgrade.Creation) { c.Principal = "bob"; c.TTL = time.Second; c.Rule.MaxTTL = time.Second })
		time.Sleep(time.Minute)
		ask := func(method, id, who string, more ...string) reply {
			return f.do(f.request(t.Context(), http.MethodPost, message(method, byID(id)), slices.Concat(legacyHeader(""), []string{userHeader, who}, more)...))
		}
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
			for name, value := range map[string]string{"Content-Type": "text/html", "Accept": "text/html", "MCP-Protocol-Version": "2020-01-01"} {
				foreign, none := ask(method, id, "bob", name, value), ask(method, "t-1", "bob", name, value)
				if foreign.String() != none.String() || foreign.status < 400 {
					t.Errorf("%s with %s: %s: another's is %v, none is %v", method, name, value, foreign, none)
				}
			}
			foreign, none := ask(method, id, "bob"), ask(method, gone, "bob")
			if foreign.status != 200 || foreign.code() != -32602 || foreign.body != none.body || none.status != 200 {
				t.Errorf("%s: another's is %v, none is %v", method, foreign, none)
			}
		}
		if v := ask("tasks/get", id, "alice").coreView(t); v.Status != "working" {
			t.Errorf("alice: %+v", v)
		}
	})
}

// Without principals the pool has its word in who is told, as in the other dialect.
func TestCoreTaskIsToldToWhomThePoolTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		id, _ := f.made("", func(c *upgrade.Creation) { c.Credentials.All = "somebody's" })
		f.servers[0].inject(first(onMethod("ping", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if r.Header.Get("Authorization") == "Bearer good" {
				return false
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			return sayStatus(http.StatusUnauthorized, jsonType, `{}`)(w, r, body)
		}), f.tool.serve))
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			r := f.do(f.request(t.Context(), http.MethodPost, message(method, byID(id)), append(legacyHeader(""), "Authorization", "Bearer bad")...))
			if r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s with a bad token: got %v", method, r)
			}
		}
		r := f.do(f.request(t.Context(), http.MethodPost, message("tasks/get", byID(id)), append(legacyHeader(""), "Authorization", "Bearer good")...))
		if v := r.coreView(t); v.Status != "working" {
			t.Errorf("with a good one: %+v", v)
		}
	})
}

// A task may be asked for in any session that there is, or none. The session that is named
// lives on by it, unless its client has ended it; one that nobody knows is refused.
func TestSessionInWhichACoreTaskIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, func(r *upgrade.Rule) { r.TTL = 100 * time.Hour })
		session, other := f.initialize(), f.initialize()
		id, _ := f.made(session, func(c *upgrade.Creation) { c.Rule.MaxTTL = 100 * time.Hour; c.TTL = c.Rule.MaxTTL; c.Rule.Timeout = 0 })
		for range 2 {
			for _, in := range []string{session, other, ""} {
				if v := f.look(in, id); v.Status != "working" {
					t.Errorf("in %q: %+v", in, v)
				}
			}
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
				if r := f.legacy("unknown", method, byID(id)); r.status != http.StatusNotFound || r.code() != -32600 {
					t.Errorf("%s in a session that nobody knows: got %v", method, r)
				}
			}
			time.Sleep(20 * time.Hour)
		}
		for _, s := range []string{session, other} {
			if got := ownerOf(f.bindings, f.router.SessionKey("", s)); got != "a" {
				t.Errorf("after a day and a half of polls %q is bound to %q", s, got)
			}
		}
		if _, held, err := f.tasks.Sessions.End(t.Context(), upgrade.SessionKey("p", "", session), "", nil); !held || err != nil {
			t.Fatalf("got %v, %v", held, err)
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			if r := f.legacy(session, method, byID(id)); r.status != http.StatusNotFound || r.code() != -32600 {
				t.Errorf("%s in a session that has ended: got %v", method, r)
			}
		}
		if v := f.look(other, id); v.Status != "working" {
			t.Errorf("in another: %+v", v)
		}
	})
}

// In a session that has moved, what the server asks bears the session's tag: without it the
// client's answer would be taken for one to the upstream that was lost.
func TestAskInASessionThatHasMovedBearsItsTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, reinit(rigOptions{size: 2}), nil)
		session := f.initialize()
		f.servers[0].kill()
		if r := f.legacy(session, "ping", ""); r.status != 200 {
			t.Fatalf("not moved: %v", r)
		}
		var alias string
		f.servers[1].inject(first(onMethod("ping", func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			alias = r.Header.Get("Mcp-Session-Id")
			return false
		}), f.tool.serve))
		f.legacy(session, "ping", "")
		id, call := f.made(session, func(c *upgrade.Creation) { c.Prefer, c.Call.Session = f.servers[1].Name, alias })
		w := f.awaits(session, id, "")
		call.ask(`7`)
		time.Sleep(time.Minute)
		call.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		time.Sleep(time.Minute)
		got := w.heard()
		if len(got) != 2 {
			t.Fatalf("heard %v", got)
		}
		var ask struct{ ID string }
		var cancelled struct{ Params struct{ RequestID string } }
		_ = json.Unmarshal([]byte(got[0]), &ask)
		_ = json.Unmarshal([]byte(got[1]), &cancelled)
		if !strings.HasPrefix(ask.ID, "berth-") || !strings.HasSuffix(ask.ID, "-7") || cancelled.Params.RequestID != ask.ID {
			t.Fatalf("heard %v", got)
		}
		f.replies(session, `"`+ask.ID+`"`)
		if posted := f.tool.answers(); len(posted) != 1 || posted[0] != `{"jsonrpc":"2.0","id":7,"result":{}}` {
			t.Errorf("the upstream got %v", posted)
		}
	})
}

// A version that names no revision is refused alike by every method: core has no tasks/update,
// and that of a task of berth's own was called unknown.
func TestNoSuchVersionIsRefusedAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		id, _ := f.made("")
		for _, about := range []string{id, "nobodys"} {
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/delete"} {
				r := f.do(f.request(t.Context(), http.MethodPost, message(method, byID(about)), "MCP-Protocol-Version", "rubbish"))
				if r.status != http.StatusBadRequest || r.code() != -32600 {
					t.Errorf("%s of %s: got %v", method, about, r)
				}
			}
		}
	})
}
