package bridge

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/sessions"
	"berth/routing"
)

// where has a tool tell in which session it runs.
func where(k *running) { k.result = `"result":{"got":["` + k.s.id + `"]}` }

// in is the session in which a call ran.
func (g got) in() string {
	if len(g.Result.Got) != 1 {
		return g.text
	}
	return strings.Trim(string(g.Result.Got[0]), `"`)
}

// Whose a session is, is told by the principal, or by all that could be a credential, and by what
// the client declares that it can be asked.
func TestTwoCallersShareNoSession(t *testing.T) {
	r := func(change func(*Options), a, b asking) (same bool) {
		bridged(t, tool(kind{}, where), change, func(r *rig) {
			a.name, b.name = "asks", "asks"
			one, two := r.do(a).in(), r.do(b).in()
			if same = one == two; r.do(a).in() != one && r.b.options().Isolation != sessions.PerCall {
				t.Errorf("%v changed its session", a)
			}
		})
		return same
	}
	isolation := func(i Isolation) func(*Options) { return func(o *Options) { o.Isolation = i } }
	for name, tc := range map[string]struct {
		change func(*Options)
		a, b   asking
		same   bool
	}{
		"the same principal":         {nil, asking{caller: "a", header: []string{"Authorization", "1"}}, asking{caller: "a", header: []string{"Authorization", "2"}}, true},
		"another principal":          {nil, asking{caller: "a"}, asking{caller: "b"}, false},
		"a principal and nobody":     {nil, asking{caller: "a"}, asking{}, false},
		"nobody twice":               {nil, asking{}, asking{id: "2", header: []string{"Traceparent", "x"}}, true},
		"other credentials":          {nil, asking{header: []string{"Authorization", "1"}}, asking{header: []string{"Authorization", "2"}}, false},
		"another cookie":             {nil, asking{}, asking{header: []string{"Cookie", "1"}}, false},
		"a header that means access": {nil, asking{}, asking{header: []string{"X-Team", "1"}}, false},
		"another way to berth":       {nil, asking{}, asking{header: []string{"X-Forwarded-Host", "b"}}, true},
		"other capabilities":         {nil, asking{declares: declaresAll}, asking{declares: declaresForm}, false},
		"capabilities alike":         {nil, asking{declares: `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`}, asking{declares: declaresForm}, true},
		"another extension":          {nil, asking{declares: `{"elicitation":{},"extensions":{"x":{}}}`}, asking{declares: declaresForm}, false},
		"each call":                  {isolation(sessions.PerCall), asking{}, asking{}, false},
		"all, another principal":     {isolation(sessions.ForAll), asking{caller: "a"}, asking{caller: "b"}, true},
		"all, other capabilities":    {isolation(sessions.ForAll), asking{declares: declaresAll}, asking{declares: declaresForm}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := r(tc.change, tc.a, tc.b); same != tc.same {
				t.Errorf("one session: %v", same)
			}
		})
	}
}

// The session that a server sees is the client's: its credentials, what it declares but for the tasks, who it is.
func TestASessionIsOpenedInTheCallersName(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		r.do(asking{name: "asks", declares: `{"elicitation":{"form":{}},"experimental":{"x":{}},"extensions":{"e":{},"io.modelcontextprotocol/tasks":{}}}`, header: []string{"Authorization", "Bearer me", "Mcp-Param-X", "y"}})
		opened := r.sent("initialize")
		last := opened[len(opened)-1]
		if !strings.Contains(last.body, `"capabilities":{"elicitation":{"form":{}},"experimental":{"x":{}},"extensions":{"e":{}}}`) || !strings.Contains(last.body, `"clientInfo":{"name":"t","version":"1"}`) || !strings.Contains(last.body, `"protocolVersion":"2025-11-25"`) {
			t.Errorf("opened with %s", last.body)
		}
		call := r.sent("tools/call")[0]
		for name, want := range map[string]string{"Authorization": "Bearer me", "Mcp-Session-Id": "s2", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Method": "", "Mcp-Name": "", "Mcp-Param-X": ""} {
			if got := call.header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		if strings.Contains(call.body, "io.modelcontextprotocol") || strings.Contains(call.body, `"id":1,`) {
			t.Errorf("called with %s", call.body)
		}
	})
}

// A call that may be asked has its session alone; others share one.
func TestASessionIsLentAlone(t *testing.T) {
	slow := func(k *running) { time.Sleep(time.Second); where(k) }
	for declares, want := range map[string]int{declaresForm: 3, declaresNone: 1} {
		bridged(t, tool(kind{}, slow), nil, func(r *rig) {
			r.do(asking{name: "asks", declares: declares})
			all := make(chan string)
			for range 3 {
				go func() { all <- r.do(asking{name: "asks", declares: declares}).in() }()
			}
			sessions := map[string]bool{}
			for range 3 {
				sessions[<-all] = true
			}
			if len(sessions) != want {
				t.Errorf("%s: got %v", declares, sessions)
			}
		})
	}
	bridged(t, tool(kind{}, slow), func(o *Options) { o.Isolation = sessions.PerCall }, func(r *rig) {
		one := make(chan string)
		go func() { one <- r.do(asking{name: "asks", declares: declaresNone}).in() }()
		synctest.Wait()
		if other := r.do(asking{name: "asks", declares: declaresNone}).in(); other == <-one {
			t.Errorf("two calls in %s", other)
		}
	})
	// One that waits for its client has it, too.
	bridged(t, tool(kind{}, func(k *running) { k.ends(k.ask()) }), nil, func(r *rig) {
		r.do(asking{name: "asks"})
		r.do(asking{method: "tools/list"})
		calls := append(r.sent("tools/call"), r.sent("tools/list")...)
		if last := calls[len(calls)-1]; last.session == calls[0].session {
			t.Errorf("tools/list went to %s", last.session)
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	u := tool(kind{}, func(k *running) { time.Sleep(time.Second); where(k) })
	bridged(t, u, func(o *Options) { o.Sessions = 2 }, func(r *rig) {
		all := make(chan got)
		for range 3 {
			go func() { all <- r.do(asking{name: "asks"}) }()
		}
		refused := 0
		for range 3 {
			if g := <-all; g.status == http.StatusServiceUnavailable && g.Error != nil && strings.Contains(string(g.Error.Data), "overloaded") {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d of 3 were refused", refused)
		}
		if g := r.do(asking{name: "asks"}); g.status != 200 {
			t.Errorf("got %s", g.text)
		}
		if n := r.b.has(); n != (stands{sessions: 2, shelves: 1}) {
			t.Errorf("%+v", n)
		}
		// The one that nobody has used for the longest time gives way.
		if g := r.do(asking{name: "asks", caller: "other"}); g.status != 200 {
			t.Errorf("got %s", g.text)
		}
		if n := r.b.has(); n != (stands{sessions: 2, shelves: 2}) || len(r.open()) != 2 {
			t.Errorf("%+v, at the server %v", n, r.open())
		}
	})
}

// Of a caller with more than half of the sessions the oldest question gives way to others, once it was not answered for a while.
func TestTheQuestionsOfOneCallerLeaveRoom(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, func(o *Options) { o.Sessions = 4 }, func(r *rig) {
		ask := func(caller string) got { return r.do(asking{name: "asks", caller: caller}) }
		other, first, second, third := ask("other"), ask("many"), ask("many"), ask("many")
		if g := ask("new"); g.status != http.StatusServiceUnavailable || !strings.Contains(string(g.Error.Data), "overloaded") {
			t.Errorf("at once: got %d %s", g.status, g.text)
		}
		time.Sleep(held.Unanswered + time.Second)
		if g := ask("many"); g.status != http.StatusServiceUnavailable {
			t.Errorf("who has the most: got %d %s", g.status, g.text)
		}
		newer := ask("new")
		if newer.Result.Type != "input_required" {
			t.Fatalf("later: got %s", newer.text)
		}
		if g := r.do(asking{name: "asks", caller: "many", params: first.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "given_up") {
			t.Errorf("the oldest: got %s", g.text)
		}
		for caller, round := range map[string]got{"other": other, "many": second, "new": newer} {
			if g := r.do(asking{name: "asks", caller: caller, params: round.answers(accepted)}); len(g.Result.Got) != 1 {
				t.Errorf("%s: got %s", caller, g.text)
			}
		}
		if g := r.do(asking{name: "asks", caller: "many", params: third.answers(accepted)}); len(g.Result.Got) != 1 {
			t.Errorf("the third: got %s", g.text)
		}
	})
}

// A client that leaves while its session is opened leaves none behind that nobody knows of.
func TestAClientLeavesWhileItsSessionIsOpened(t *testing.T) {
	for _, isolation := range []Isolation{sessions.PerPrincipal, sessions.PerCall} {
		u := tool(kind{}, where)
		u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "initialize" {
				time.Sleep(300 * time.Millisecond)
			}
			return false
		}
		bridged(t, u, func(o *Options) { o.Isolation = isolation }, func(r *rig) {
			r.do(asking{name: "asks"})
			for range 3 {
				r.goneAfter(100*time.Millisecond, asking{name: "asks", caller: "other"})
			}
			time.Sleep(time.Second)
			if left, known := len(r.open()), r.b.has().sessions; left != known || isolation == sessions.PerCall && left > 0 {
				t.Errorf("%s: %d sessions at the server, %d known", isolation, left, known)
			}
		})
	}
}

// A session that nobody uses is ended, and not before.
func TestIdleSessionsAreEnded(t *testing.T) {
	bridged(t, tool(kind{}, where), func(o *Options) { o.Idle = time.Minute }, func(r *rig) {
		for range 5 {
			r.do(asking{name: "asks", header: []string{"Authorization", "me"}})
			time.Sleep(50 * time.Second)
		}
		if n := len(r.sent("initialize")); n != 2 { // one to find out the era
			t.Errorf("%d sessions were opened", n)
		}
		time.Sleep(time.Minute)
		ended := r.sent("DELETE")
		if last := ended[len(ended)-1]; len(r.open()) != 0 || last.session != "s2" || last.header.Get("Authorization") != "me" {
			t.Errorf("%v are open, ended %+v", r.open(), ended)
		}
	})
}

// A server that has forgotten a session has done nothing: the call goes to a new one, once.
func TestASessionIsOpenedAnew(t *testing.T) {
	u := tool(kind{}, where)
	bridged(t, u, nil, func(r *rig) {
		before := r.do(asking{name: "asks"}).in()
		r.forget()
		if after := r.do(asking{name: "asks"}); after.status != 200 || after.in() == before || r.ran() != 3 {
			t.Errorf("got %s, sent %d times", after.text, r.ran())
		}
		if n := r.b.has().sessions; n != 1 {
			t.Errorf("%d sessions are open", n)
		}
	})
	for status, times := range map[int]int{404: 2, 400: 2, 500: 1, 401: 1} {
		u := tool(kind{}, where)
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method != "tools/call" && m.Method != "ping" {
				return false
			}
			w.Header().Set("Www-Authenticate", "Bearer x")
			w.WriteHeader(status)
			return true
		}
		bridged(t, u, nil, func(r *rig) {
			g := r.do(asking{name: "asks"})
			if g.status != status || g.Error == nil || r.ran() != times || (status == 401) != (g.header.Get("Www-Authenticate") == "Bearer x" && status == 401) {
				t.Errorf("got %d %s, sent %d times", g.status, g.text, r.ran())
			}
		})
	}
}

// A server that says 404 or 400 and knows the session may have run the tool: it is not called again, the session stays, and so do the
// calls of others in it.
func TestARefusalIsNoLossOfTheSession(t *testing.T) {
	for _, isolation := range []Isolation{"", sessions.ForAll} {
		for _, status := range []int{404, 400} {
			for _, id := range []string{"null", ""} {
				u := tool(kind{}, where)
				long := u.tools["asks"]
				u.tools["asks"] = func(k *running) {
					holdsUp8s(k)
					long(k)
				}
				refused := 0
				u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
					if m.Params.Name != "bad" {
						return false
					}
					refused++
					respond(w, status, `{"jsonrpc":"2.0","id":`+cmp.Or(id, string(m.ID))+`,"error":{"code":-32602,"message":"no such account"}}`)
					return true
				}
				bridged(t, u, func(o *Options) { o.Isolation = isolation }, func(r *rig) {
					done := make(chan got, 1)
					go func() { done <- r.do(asking{name: "asks", declares: declaresNone, caller: "alice"}) }()
					time.Sleep(2 * time.Second)
					bad := asking{name: "bad", declares: declaresNone, caller: "alice"}
					if isolation == sessions.ForAll {
						bad.caller = "bob"
					}
					if g := r.do(bad); g.status != status || g.Error == nil || g.Error.Code != -32602 || refused != 1 {
						t.Errorf("got %d %s, after %d calls", g.status, g.text, refused)
					}
					if g := <-done; g.status != 200 || g.Error != nil || len(r.open()) != 1 {
						t.Errorf("the other call got %d %s, %v are open", g.status, g.text, r.open())
					}
				})
			}
		}
	}
}

// holdsUp8s has a call take eight seconds, unless it is cut.
func holdsUp8s(k *running) {
	select {
	case <-time.After(8 * time.Second):
	case <-k.ctx.Done():
	}
}

// A server that was started anew has forgotten all sessions: none of those before is tried in place of another one.
func TestNoSessionOfBeforeARestartIsTriedInPlaceOfAnother(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		time.Sleep(time.Second)
		where(k)
	})
	bridged(t, u, nil, func(r *rig) {
		for _, caller := range []string{"alice", "bob"} {
			done := make(chan got)
			for range 4 {
				go func() { done <- r.do(asking{name: "asks", caller: caller}) }()
			}
			for range 4 {
				<-done
			}
		}
		r.forget()
		for _, caller := range []string{"alice", "bob"} {
			for range 4 {
				if g := r.do(asking{name: "asks", caller: caller}); g.status != 200 {
					t.Errorf("%s got %d %s", caller, g.status, g.text)
				}
			}
		}
		if n := r.b.has().sessions; n != 2 {
			t.Errorf("%d sessions are open", n)
		}
	})
}

// A session that is lost is ended once its last call is over, and lent to nobody meanwhile.
func TestALostSessionIsEndedWithItsLastUse(t *testing.T) {
	u := tool(kind{}, where)
	u.tools["asks"] = func(k *running) { holdsUp8s(k) }
	u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
		if m.Params.Name != "lost" && m.Method != "ping" || q.Header.Get("Mcp-Session-Id") != "s2" {
			return false
		}
		w.WriteHeader(404)
		return true
	}
	bridged(t, u, nil, func(r *rig) {
		done := make(chan got, 1)
		go func() { done <- r.do(asking{name: "asks", declares: declaresNone}) }()
		time.Sleep(2 * time.Second)
		r.do(asking{name: "lost", declares: declaresNone})
		ended := func() (n int) {
			for _, q := range r.sent("DELETE") {
				if q.session == "s2" {
					n++
				}
			}
			return n
		}
		if ended() != 0 {
			t.Error("ended under a call")
		}
		if g := <-done; g.status != 200 || g.Error != nil {
			t.Errorf("the other call got %d %s", g.status, g.text)
		}
		time.Sleep(time.Second)
		if n := ended(); n != 1 {
			t.Errorf("ended %d times", n)
		}
	})
}

// A session that is opened while the last other one of its caller's is lost is found again.
func TestASessionOpenedWhileAnotherIsLostIsKept(t *testing.T) {
	u := tool(kind{}, where)
	bridged(t, u, func(o *Options) { o.Idle = time.Minute }, func(r *rig) {
		r.do(asking{name: "asks"})
		u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
			switch {
			case m.Method == "initialize":
				time.Sleep(10 * time.Second)
			case m.Params.Name == "lost" && q.Header.Get("Mcp-Session-Id") == "s2":
				time.Sleep(5 * time.Second)
				w.WriteHeader(404)
				return true
			}
			return false
		}
		done := make(chan got)
		for _, name := range []string{"lost", "asks"} {
			go func() { done <- r.do(asking{name: name}) }()
			synctest.Wait()
		}
		<-done
		<-done
		if n := r.b.has().sessions; n != 2 {
			t.Errorf("%d sessions", n)
		}
		time.Sleep(time.Minute + 2*sweepInterval)
		if n := r.b.has().sessions; n != 0 || len(r.open()) != 0 {
			t.Errorf("afterwards %d sessions, at the server %v", n, r.open())
		}
	})
}

// An opening that breaks off, however far it came, has executed nothing: another upstream may be asked.
func TestAnOpeningThatBreaksOffMayGoElsewhere(t *testing.T) {
	for _, at := range []string{"initialize", "notifications/initialized"} {
		u := tool(kind{}, where)
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method == at {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			for _, method := range []string{"tools/call", "tools/list"} {
				_, err := r.send(r.t.Context(), asking{method: method, name: "asks", caller: "other"})
				if failed, ok := errors.AsType[*exchange.SendError](err); !ok || failed.Sent {
					t.Errorf("%s at %s: got %v", method, at, err)
				}
			}
		})
	}
}

// An answer to initialize that negotiates nothing is told as one that opens no session.
func TestAnAnswerThatOpensNoSessionIsToldSo(t *testing.T) {
	for _, result := range []string{`{}`, `{"protocolVersion":"2026-07-28","capabilities":{}}`} {
		u := tool(kind{}, where)
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method == "initialize" {
					respond(w, 200, `{"jsonrpc":"2.0","id":"berth","result":`+result+`}`)
				}
				return m.Method == "initialize"
			}
			g := r.do(asking{name: "asks", caller: "other"})
			if g.status != 502 || g.Error == nil || !strings.Contains(string(g.Error.Data), `"outcome":"not_executed"`) {
				t.Errorf("%s: got %d %s", result, g.status, g.text)
			}
		})
	}
}

// What fails to open leaves nothing.
func TestASessionThatIsNotOpenedLeavesNothing(t *testing.T) {
	for status, want := range map[int]int{401: 401, 403: 403, 429: 429, 503: 503, 500: 502, 404: 502} {
		u := tool(kind{}, where)
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != "initialize" {
					return false
				}
				w.Header().Set("Www-Authenticate", "Bearer x")
				w.Header().Set("Retry-After", "3")
				respond(w, status, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32603,"message":"no"}}`)
				return true
			}
			for _, who := range []string{"a", "b", "c"} {
				g := r.do(asking{name: "asks", caller: who})
				if g.status != want || g.Error == nil || (want == 401) != (g.header.Get("Www-Authenticate") == "Bearer x" && want == 401) {
					t.Errorf("%d: got %d %s", status, g.status, g.text)
				}
				if later := g.header.Get("Retry-After"); (later == "3") != (want == 429 || want == 503) {
					t.Errorf("%d: may be asked again after %q s", status, later)
				}
			}
			if left := r.b.has(); left != (stands{sessions: 1, shelves: 1}) {
				t.Errorf("%d: %+v", status, left)
			}
		})
	}
}

// A session that is lost between two rounds is the end of its call, and of it.
func TestASessionIsLostBetweenTwoRounds(t *testing.T) {
	for _, gets := range []int{200, 405} {
		u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
		u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
			if q.Method == http.MethodGet && gets != 200 {
				w.WriteHeader(gets)
			}
			return q.Method == http.MethodGet && gets != 200
		}
		bridged(t, u, nil, func(r *rig) {
			first := r.do(asking{name: "asks"})
			r.forget()
			for range 2 {
				if g := r.do(asking{name: "asks", params: first.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "session_lost") {
					t.Errorf("got %d %s", g.status, g.text)
				}
			}
			time.Sleep(2 * held.Replay)
			if left := r.b.has(); r.ran() != 1 || left != (stands{}) {
				t.Errorf("the tool ran %d times, %+v", r.ran(), left)
			}
		})
	}
}

// A pool's list is replaced: what is open stays, and is counted once.
func TestSessionsOutliveThePoolsList(t *testing.T) {
	u := tool(kind{}, func(k *running) { time.Sleep(time.Second); where(k) })
	bridged(t, u, func(o *Options) { o.Sessions = 2 }, func(r *rig) {
		before := r.do(asking{name: "asks"}).in()
		done := make(chan string)
		go func() { done <- r.do(asking{name: "asks", caller: "slow"}).in() }()
		synctest.Wait()
		r.b.options().Endpoint.Router.Pool.Replace([]*routing.Upstream{{Name: "a", URL: r.at.URL}})
		if after := r.do(asking{name: "asks"}).in(); after != before {
			t.Errorf("first in %s, then in %s", before, after)
		}
		<-done
		if g := r.do(asking{name: "asks", caller: "third"}); g.status != 200 {
			t.Errorf("got %d %s", g.status, g.text)
		}
		if n := r.b.has().sessions; n != 2 {
			t.Errorf("got %d sessions, want no more than there may be", n)
		}
	})
}
