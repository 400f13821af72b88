package bridge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/bridge/held"
	"berth/proxy/bridge/sessions"
)

const rooted = `{"roots":[{"uri":"file:///told"}]}`

// answeredEarly are the answers to what is asked of each session.
func answeredEarly(r *rig) (answers []string) {
	synctest.Wait()
	for _, text := range r.told() {
		if strings.Contains(text, `"id":"first"`) {
			answers = append(answers, text)
		}
	}
	return answers
}

// What a server asks of every new session is asked of the client of the first call there that may
// be, whatever was done there before, and answered before that is sent.
func TestAServerThatAsksAtItsStart(t *testing.T) {
	for name, plain := range map[string]bool{"with event ids": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{asks: "roots/list", plain: plain}, func(k *running) { k.ends(k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				r.do(asking{method: "tools/list"})
				time.Sleep(time.Minute)
				first := r.do(asking{name: "asks"})
				if len(first.Result.Requests) != 1 || !strings.Contains(first.text, "roots/list") || r.ran() != 0 || len(answeredEarly(r)) != 0 {
					r.t.Fatalf("got %.90s, told %v, the tool ran %d times", first.text, r.told(), r.ran())
				}
				second := r.do(asking{name: "asks", params: first.answers(rooted)})
				if answers := answeredEarly(r); len(answers) != 1 || !strings.Contains(answers[0], rooted) {
					t.Errorf("the server was told %v", answers)
				}
				requests := r.sent("answer")
				if call := r.sent("tools/call"); len(call) != 1 || len(requests) != 1 {
					t.Errorf("the call was sent %d times", len(call))
				}
				last := r.do(asking{name: "asks", params: second.answers(accepted)})
				if len(last.Result.Got) != 1 || r.ran() != 1 {
					t.Errorf("got %s, the tool ran %d times", last.text, r.ran())
				}
				// The next one finds a session that has asked.
				if next := r.do(asking{name: "asks"}); strings.Contains(next.text, "roots/list") {
					t.Errorf("got %s", next.text)
				}
			})
		})
	}
}

// A client that did not declare it is not asked, and its call is sent.
func TestAServerThatAsksAtItsStartWhatWasNotDeclared(t *testing.T) {
	bridged(t, tool(kind{asks: "roots/list"}, where), nil, func(r *rig) {
		if g := r.do(asking{name: "asks", declares: declaresForm}); g.Result.Type != "complete" {
			t.Errorf("got %s", g.text)
		}
		if answers := answeredEarly(r); len(answers) != 1 || !strings.Contains(answers[0], `"error"`) {
			t.Errorf("the server was told %v", answers)
		}
	})
	// Nor is anybody whose answer would be others' as well.
	bridged(t, tool(kind{asks: "roots/list"}, where), func(o *Options) { o.Isolation = sessions.ForAll }, func(r *rig) {
		r.do(asking{method: "tools/list"})
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" {
			t.Errorf("got %s", g.text)
		}
		if answers := answeredEarly(r); len(answers) != 1 || !strings.Contains(answers[0], `"error"`) {
			t.Errorf("the server was told %v", answers)
		}
	})
	// That holds for what is asked in mid-call as well.
	midCall := tool(kind{}, func(k *running) {
		text, _, answer := k.question("roots/list", "{}")
		k.say(text)
		k.ends(k.wait(answer))
	})
	bridged(t, midCall, func(o *Options) { o.Isolation = sessions.ForAll }, func(r *rig) {
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" || !strings.Contains(g.text, "no client can be asked") {
			t.Errorf("got %s", g.text)
		}
	})
}

// A client whose connection breaks when it has answered comes back to the same call.
func TestAHangUpAfterTheFirstAnswer(t *testing.T) {
	u := tool(kind{asks: "roots/list"}, func(k *running) {
		time.Sleep(3 * time.Second)
		where(k)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		r.goneAfter(time.Second, asking{name: "asks", params: first.answers(rooted)})
		for range 2 { // the second asks for what has come
			if g := r.do(asking{name: "asks", params: first.answers(rooted)}); g.Result.Type != "complete" {
				t.Errorf("got %s", g.text)
			}
		}
		if r.ran() != 1 {
			t.Errorf("the tool ran %d times", r.ran())
		}
	})
}

// Where the call is gone that was to be sent, nothing has run: it begins anew, and asks again.
func TestACallThatWasNotSentBeginsAnew(t *testing.T) {
	bridged(t, tool(kind{asks: "roots/list"}, where), nil, func(r *rig) {
		f, a, b, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		again := r.do(asking{name: "asks", by: b, params: first.with("")})
		if again.Result.Type != "input_required" || len(r.open()) != 1 {
			t.Errorf("at the other berth: got %s, sessions %v", again.text, r.open())
		}
		delete(f.berths, "a")
		anew := r.do(asking{name: "asks", by: b, params: again.answers(rooted)})
		if len(anew.Result.Requests) != 1 || len(r.open()) != 2 {
			t.Errorf("without the first one: got %s, sessions %v", anew.text, r.open())
		}
		if last := r.do(asking{name: "asks", by: b, params: anew.answers(rooted)}); last.Result.Type != "complete" || r.ran() != 1 {
			t.Errorf("got %s, the tool ran %d times", last.text, r.ran())
		}
	})
}

// Nor has anything run where the server has lost the session before the call was sent there.
func TestACallThatWasNotSentOutlivesItsSession(t *testing.T) {
	bridged(t, tool(kind{asks: "roots/list"}, where), nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		r.forget()
		anew := r.do(asking{name: "asks", params: first.answers(rooted)})
		if len(anew.Result.Requests) != 1 || r.ran() != 0 {
			t.Fatalf("got %s, the tool ran %d times", anew.text, r.ran())
		}
		if last := r.do(asking{name: "asks", params: anew.answers(rooted)}); last.Result.Type != "complete" || r.ran() != 1 {
			t.Errorf("got %s, the tool ran %d times", last.text, r.ran())
		}
		if g := r.do(asking{name: "asks", params: first.answers(rooted)}); g.Error == nil || !strings.Contains(g.text, "given_up") || r.ran() != 1 {
			t.Errorf("once more got %s, the tool ran %d times", g.text, r.ran())
		}
	})
}

// What the server answers with in the place of that call, when it is sent, is the client's as of one that was sent at once.
func TestACallThatIsSentLateIsRefusedAsOneThatIsSentAtOnce(t *testing.T) {
	for _, status := range []int{401, 403, 429, 500, 503} {
		u := tool(kind{asks: "roots/list"}, where)
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "tools/call" {
				w.Header().Set("WWW-Authenticate", "Bearer x")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
			}
			return m.Method == "tools/call"
		}
		bridged(t, u, nil, func(r *rig) {
			first := r.do(asking{name: "asks"})
			g := r.do(asking{name: "asks", params: first.answers(rooted)})
			if g.status != status || g.header.Get("Www-Authenticate") != "Bearer x" || g.header.Get("Retry-After") != "7" {
				t.Errorf("%d: got %d %s", status, g.status, g.text)
			}
		})
	}
}

// A client that brings what the server wants by then, with the same retry, has the call made that was refused.
func TestACallThatIsRefusedAsItIsSentLateIsSentAgain(t *testing.T) {
	for _, status := range []int{401, 403, 429} {
		refused := 0
		u := tool(kind{asks: "roots/list"}, where)
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method != "tools/call" || refused == 2 {
				return false
			}
			refused++
			w.WriteHeader(status)
			return true
		}
		bridged(t, u, nil, func(r *rig) {
			retry := asking{name: "asks", params: r.do(asking{name: "asks"}).answers(rooted)}
			for range 2 {
				if g := r.do(retry); g.status != status {
					t.Errorf("%d: got %d %s", status, g.status, g.text)
				}
				time.Sleep(time.Minute)
			}
			for range 2 {
				if g := r.do(retry); g.Result.Type != "complete" || r.ran() != 3 {
					t.Errorf("%d: at last got %d %s, sent %d times", status, g.status, g.text, r.ran())
				}
			}
		})
	}
}

// Where the berth may have taken that answer, before it was lost, it may have sent the call as well: this does not begin anew.
func TestACallThatMayHaveBeenSentDoesNotBeginAnew(t *testing.T) {
	u := tool(kind{asks: "roots/list"}, func(k *running) {
		time.Sleep(time.Minute)
		where(k)
	})
	for name, c := range map[string]struct {
		loses int  // so many rounds
		dies  bool // with the first
	}{"it is gone": {1, true}, "it lives": {2, false}} {
		t.Run(name, func(t *testing.T) {
			bridged(t, u, nil, func(r *rig) {
				r.keeps = true
				f, a, b, _ := r.join(10 * time.Minute)
				first := r.do(asking{name: "asks", by: a})
				f.loses = c.loses
				if c.dies {
					f.dies = "a"
				}
				lost := r.do(asking{name: "asks", by: b, params: first.answers(rooted)})
				if lost.Error == nil || !strings.Contains(lost.text, "holder_lost") || !strings.Contains(lost.text, `"mayHaveExecuted":true`) || r.ran() != 1 {
					t.Errorf("got %s, the tool ran %d times", lost.text, r.ran())
				}
			})
		})
	}
}

// Nor does one that was held here, and of which nobody knows any more what has come.
func TestACallThatIsOverDoesNotBeginAnew(t *testing.T) {
	bridged(t, tool(kind{asks: "roots/list"}, where), nil, func(r *rig) {
		_, a, b, _ := r.join(10 * time.Minute)
		first := r.do(asking{name: "asks", by: a})
		if g := r.do(asking{name: "asks", by: a, params: first.answers(rooted)}); g.Result.Type != "complete" {
			t.Errorf("got %s", g.text)
		}
		time.Sleep(2 * held.Replay)
		for _, by := range []*Bridge{a, b} {
			if g := r.do(asking{name: "asks", by: by, params: first.answers(rooted)}); g.Error == nil || !strings.Contains(g.text, "given_up") || r.ran() != 1 {
				t.Errorf("got %s, the tool ran %d times", g.text, r.ran())
			}
		}
	})
}

// A server may wait for that answer before it gives any: what cannot be asked is refused then.
func TestAServerThatWaitsForWhatItAskedFirst(t *testing.T) {
	u := &upstream{kind: kind{asks: "roots/list"}}
	u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
		for waited := 0; m.Method == "tools/list" && len(u.sent("answer")) == 0 && waited < 600; waited++ {
			time.Sleep(100 * time.Millisecond)
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		began := time.Now()
		if g := r.do(asking{method: "tools/list"}); g.status != 200 || time.Since(began) > 10*time.Second {
			t.Errorf("got %s", g.text)
		}
		if answers := answeredEarly(r); len(answers) != 1 || !strings.Contains(answers[0], `"error"`) {
			t.Errorf("the server was told %v", answers)
		}
	})
}

// What the server wants no answer to any more is asked of nobody, before a call and in one.
func TestAQuestionOnTheSessionsStreamIsWithdrawn(t *testing.T) {
	const withdrawn = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
	u := tool(kind{asks: "roots/list"}, func(k *running) {
		text, id, _ := k.question("elicitation/create", formAsk)
		k.aside(text)
		k.aside(fmt.Sprintf(withdrawn, id))
		time.Sleep(time.Second)
		where(k)
	})
	bridged(t, u, nil, func(r *rig) {
		r.do(asking{method: "tools/list"})
		r.say(fmt.Sprintf(withdrawn, `"first"`))
		synctest.Wait()
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" || r.ran() != 1 {
			t.Errorf("got %s", g.text)
		}
	})
}

// What a server logs of such an answer is no question, and what it asks then is one.
func TestAServerAsksMoreAtItsStart(t *testing.T) {
	bridged(t, tool(kind{asks: "roots/list"}, where), nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		time.AfterFunc(earlyTimeHTTP/2, func() {
			r.say(logs("info"))
			r.say(`{"jsonrpc":"2.0","id":"more","method":"roots/list"}`)
		})
		second := r.do(asking{name: "asks", params: first.answers(rooted)})
		if len(second.Result.Requests) != 1 || r.ran() != 0 {
			r.t.Fatalf("got %s, the tool ran %d times", second.text, r.ran())
		}
		time.AfterFunc(earlyTimeHTTP/2, func() { r.say(logs("info")) })
		if last := r.do(asking{name: "asks", params: second.answers(rooted)}); last.Result.Type != "complete" || r.ran() != 1 {
			t.Errorf("got %s, the tool ran %d times", last.text, r.ran())
		}
	})
}
