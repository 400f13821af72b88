package bridge

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/bridge/flow"
)

// Many servers ask on the session's own stream, some before the call's answer has headers: the
// question is put to the client of the call there.
func TestAQuestionOnTheSessionsOwnStream(t *testing.T) {
	for name, of := range map[string]kind{"with event ids": {}, "without": {plain: true}, "before the headers": {whole: true}, "before, and without": {whole: true, plain: true}} {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.askAside(), k.askAside()) })
			bridged(t, u, nil, func(r *rig) {
				for range 2 { // the second finds the session as the first has left it
					g := r.do(asking{name: "asks"})
					for round := 0; round < 2 && g.Result.Type == "input_required"; round++ {
						g = r.do(asking{name: "asks", params: g.answers(accepted)})
					}
					if len(g.Result.Got) != 2 {
						t.Errorf("got %s", g.text)
					}
				}
				if r.ran() != 2 || len(r.sent("answer")) != 4 {
					t.Errorf("the tool ran %d times, told %v", r.ran(), r.told())
				}
			})
		})
	}
}

// What is asked on the session's own stream before that stands is lost: a call waits for it, whoever
// has it opened, and however it fares.
func TestACallWaitsForTheSessionsOwnStream(t *testing.T) {
	asks := func(r *rig) {
		r.t.Helper()
		ctx, stop := context.WithTimeout(r.t.Context(), 9*time.Second)
		defer stop()
		response, err := r.send(ctx, asking{name: "asks"})
		if err != nil {
			r.t.Fatalf("got %v", err)
		}
		g := r.read(response)
		if g.Result.Type != "input_required" {
			r.t.Fatalf("got %s", g.text)
		}
		if g = r.do(asking{name: "asks", params: g.answers(accepted)}); len(g.Result.Got) != 1 {
			r.t.Errorf("got %s", g.text)
		}
	}
	tests := map[string]struct {
		late func(gets int) (wait time.Duration, conflict bool)
		test func(r *rig)
	}{
		"a subscription has it opened": {
			func(int) (time.Duration, bool) { return time.Second, false },
			func(r *rig) {
				h := r.hear(`{"toolsListChanged":true}`, asking{})
				h.next()
				asks(r)
				h.stop()
			},
		},
		"the server thinks that it is read": {func(gets int) (time.Duration, bool) { return 0, gets <= 3 }, asks},
		"it has just ended": {
			func(gets int) (time.Duration, bool) { return 0, false },
			func(r *rig) {
				asks(r)
				time.Sleep(time.Minute)
				r.breakOwn()
				synctest.Wait()
				asks(r)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{plain: true}, func(k *running) { k.ends(k.askAside()) })
			gets := 0
			u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
				if q.Method != http.MethodGet {
					return false
				}
				gets++
				wait, conflict := test.late(gets)
				time.Sleep(wait)
				if conflict {
					w.WriteHeader(http.StatusConflict)
				}
				return conflict
			}
			bridged(t, u, nil, test.test)
		})
	}
}

// breakOwn breaks off who reads the own streams of sessions.
func (u *upstream) breakOwn() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range u.sessions {
		if s.own.read {
			close(s.own.cut)
		}
	}
}

// A question that no call can have asked is refused at once, and a ping is answered.
func TestWhatBelongsToNoCallIsAnsweredAtOnce(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		r.do(asking{name: "asks"})
		r.say(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		r.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		time.Sleep(time.Second)
		told := strings.Join(r.told(), "\n")
		if !strings.Contains(told, `"id":"r","error":{"code":-32603`) || !strings.Contains(told, `"id":"p","result":{}`) {
			t.Errorf("told %s", told)
		}
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" {
			t.Errorf("got %s", g.text)
		}
	})
	// In a call: ping is no question of it.
	u := tool(kind{}, func(k *running) {
		text, _, answer := k.question("ping", "{}")
		k.say(text)
		k.ends(k.wait(answer))
	})
	bridged(t, u, nil, func(r *rig) {
		if g := r.do(asking{name: "asks"}); !strings.Contains(g.text, `"got":[{}]`) {
			t.Errorf("got %s", g.text)
		}
	})
}

func logs(level string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":"x"}}`
}

// A client hears as much of a call's log as it asked for, on whichever stream, and its session is
// made as talkative as that takes.
func TestLogsAreFilteredByLevel(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		for _, level := range []string{"debug", "info", "error"} {
			k.say(logs(level))
		}
		k.aside(logs("alert"))
		k.aside(logs("debug"))
		time.Sleep(time.Second)
	})
	for level, want := range map[string][]string{"": nil, "info": {"info", "error", "alert"}, "debug": {"debug", "info", "error", "alert", "debug"}, "emergency": nil, "loud": nil} {
		bridged(t, u, nil, func(r *rig) {
			meta := ""
			if level != "" {
				meta = `,"io.modelcontextprotocol/logLevel":"` + level + `"`
			}
			r.do(asking{name: "asks", meta: meta})
			g := r.do(asking{name: "asks", meta: meta})
			heard := strings.Join(g.all, "\n")
			if len(g.all) != len(want)+1 {
				t.Errorf("%q: got %s", level, heard)
			}
			for _, w := range want {
				if !strings.Contains(heard, `"level":"`+w+`"`) {
					t.Errorf("%q: %s is missing in %s", level, w, heard)
				}
			}
			set := r.sent("logging/setLevel")
			if known := level == "info" || level == "debug" || level == "emergency"; known != (len(set) == 1) || known && !strings.Contains(set[0].body, `"level":"`+level+`"`) {
				t.Errorf("%q: set %v", level, set)
			}
		})
	}
	bridged(t, u, nil, func(r *rig) { // the most talkative level is kept
		for _, level := range []string{"error", "debug", "error"} {
			r.do(asking{name: "asks", meta: `,"io.modelcontextprotocol/logLevel":"` + level + `"`})
		}
		if n := len(r.sent("logging/setLevel")); n != 2 {
			t.Errorf("set %d times", n)
		}
	})
}

// A server of another transport that never stops logging keeps no answer back: what it logs goes on after the call has ended.
func TestLogsKeepNoAnswerBack(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		go func() {
			for range 10_000 {
				time.Sleep(5 * time.Millisecond)
				k.aside(logs("info"))
			}
		}()
		time.Sleep(time.Second)
	})
	for _, level := range []string{"info", "error"} { // it is told, or not
		bridged(t, u, nil, func(r *rig) {
			r.process(r.b)
			ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
			defer cancel()
			response, err := r.send(ctx, asking{name: "asks", meta: `,"io.modelcontextprotocol/logLevel":"` + level + `"`})
			if err != nil {
				r.t.Fatalf("%s: %v", level, err)
			}
			defer response.Body.Close()
			if g := r.read(response); !strings.Contains(g.text, `"result"`) {
				r.t.Errorf("%s: got %s", level, g.text)
			}
		})
	}
}

// A server that does not answer to what it is to log is waited for once, and not by one call after the other.
func TestALevelThatIsNotSetHoldsNobodyUpForLong(t *testing.T) {
	u := tool(kind{}, where)
	u.faults = silentTo("logging/setLevel")
	bridged(t, u, nil, func(r *rig) {
		began := time.Now()
		done := make(chan got, 5)
		for range cap(done) {
			go func() {
				done <- r.do(asking{name: "asks", declares: declaresNone, meta: `,"io.modelcontextprotocol/logLevel":"info"`})
			}()
		}
		for range cap(done) {
			if g := <-done; g.status != 200 {
				t.Errorf("got %s", g.text)
			}
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A server that logs while its question waits leaves room for the next one.
func TestLogsLeaveRoomForQuestions(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) {
		text, _, first := k.question("elicitation/create", formAsk)
		k.say(text)
		time.Sleep(time.Second)
		for range 2 * flow.MaxInbox {
			k.aside(logs("error"))
		}
		second := k.askAside()
		k.ends(k.wait(first), second)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		time.Sleep(2 * time.Second)
		second := r.do(asking{name: "asks", params: first.answers(accepted)})
		last := r.do(asking{name: "asks", params: second.answers(accepted)})
		if want := `"got":[` + accepted + `,` + accepted + `]`; !strings.Contains(last.text, want) {
			t.Errorf("got %.300s, then %.300s", second.text, last.text)
		}
	})
}

// Progress of the call comes under the client's own token, and nothing of another's.
func TestProgressIsTheClients(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		k.progress(1)
		k.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"another","progress":9}}`)
		answer := k.ask()
		k.progress(2)
		k.ends(answer)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks", meta: `,"progressToken":"mine"`})
		if len(first.all) != 2 || first.all[0] != `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}` {
			t.Errorf("got %q", first.all)
		}
		last := r.do(asking{name: "asks", meta: `,"progressToken":7`, params: first.answers(accepted)})
		if len(last.all) != 2 || !strings.Contains(last.all[0], `"progressToken":7,"progress":2`) {
			t.Errorf("got %q", last.all)
		}
		for _, g := range []got{first, last} {
			if !strings.HasPrefix(g.header.Get("Content-Type"), "text/event-stream") {
				t.Errorf("got %v", g.header)
			}
		}
		if g := r.do(asking{name: "asks"}); len(g.all) != 1 || strings.Contains(r.sent("tools/call")[1].body, "progressToken") {
			t.Errorf("without a token: %q", g.all)
		}
	})
}
