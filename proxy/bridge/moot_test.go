package bridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// asksWhetherMoot sends what upgraded tasks send where somebody polls one whose client is asked.
func (r *rig) asksWhetherMoot(round got, a asking) (status int) {
	r.t.Helper()
	return r.notes(mcp.MethodIsMoot, mcp.IsMoot(fmt.Appendf(nil, "%q", round.Result.State)), a)
}

// notes sends a notification of berth's own.
func (r *rig) notes(method string, body []byte, a asking) (status int) {
	r.t.Helper()
	if a.by == nil {
		a.by = r.b
	}
	u := a.by.options().Endpoint.Router.Pool.Find("a")
	h := new(wire.Header)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set(mcp.HeaderVersion, "2026-07-28")
	h.Set(mcp.HeaderMethod, method)
	response, err := a.by.To(u).Send(r.t.Context(), &exchange.Request{Method: wire.MethodPost, URL: u.URL, Header: h, Body: body, Caller: a.caller}, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	response.Body.Close()
	return response.Status
}

var bothKinds = map[string]kind{"with event ids": {}, "without": {plain: true}}

// A call that ends without the answer that its client is asked for waits for none: who asks is told so, at any berth, and has its outcome
// without an answer.
func TestACallThatHasEndedWaitsForNoAnswer(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				text, _, _ := k.question("elicitation/create", formAsk)
				k.say(text)
				time.Sleep(30 * time.Second)
				k.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + k.token + `,"progress":1}}`)
				time.Sleep(30 * time.Second)
				k.ends()
			})
			bridged(t, u, nil, func(r *rig) {
				_, a, b, _ := r.join(30 * time.Minute)
				first := r.do(asking{name: "asks", by: a, caller: "ann", meta: `,"progressToken":"p"`})
				for range 3 {
					for _, by := range []*Bridge{a, b} {
						if status := r.asksWhetherMoot(first, asking{by: by, caller: "ann"}); status != 202 {
							t.Errorf("while it waits: %d", status)
						}
					}
					time.Sleep(15 * time.Second)
				}
				time.Sleep(30 * time.Second)
				if status := r.asksWhetherMoot(first, asking{by: b, caller: "bob"}); status/100 != 4 {
					t.Errorf("another caller: %d", status)
				}
				for range 2 {
					for _, by := range []*Bridge{a, b} {
						if status := r.asksWhetherMoot(first, asking{by: by, caller: "ann"}); status != 204 {
							t.Errorf("when it has ended: %d", status)
						}
					}
				}
				last := r.do(asking{name: "asks", by: b, caller: "ann", meta: `,"progressToken":"p"`, params: first.with("")})
				if last.Result.Type != "complete" || !strings.Contains(last.all[0], "progress") || r.ran() != 1 {
					t.Errorf("got %v, the tool ran %d times", last.all, r.ran())
				}
			})
		})
	}
}

// Nor does one whose server has withdrawn the question and goes on.
func TestACallWhoseQuestionIsWithdrawnWaitsForNoAnswer(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				text, id, _ := k.question("elicitation/create", formAsk)
				k.say(text)
				time.Sleep(30 * time.Second)
				k.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				time.Sleep(time.Minute)
				k.ends(k.ask())
			})
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				if status := r.asksWhetherMoot(first, asking{}); status != 202 {
					t.Errorf("while it waits: %d", status)
				}
				time.Sleep(31 * time.Second)
				if status := r.asksWhetherMoot(first, asking{}); status != 204 {
					t.Errorf("when that is withdrawn: %d", status)
				}
				next := r.do(asking{name: "asks", params: first.with("")})
				if len(next.Result.Requests) != 1 {
					t.Fatalf("got %s, want its next question", next.text)
				}
				if last := r.do(asking{name: "asks", params: next.answers(accepted)}); len(last.Result.Got) != 1 || r.ran() != 1 {
					t.Errorf("got %s, the tool ran %d times", last.text, r.ran())
				}
			})
		})
	}
}

// A look changes nothing: the client may answer after it, and what it is asked meanwhile comes after that.
func TestALookAtACallThatWaitsChangesNothing(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				one, _, a := k.question("elicitation/create", formAsk)
				k.say(one)
				time.Sleep(30 * time.Second)
				two, _, b := k.question("elicitation/create", formAsk)
				k.say(two)
				k.ends(k.wait(a), k.wait(b))
			})
			bridged(t, u, func(o *Options) { o.Question = 2 * time.Minute }, func(r *rig) {
				first := r.do(asking{name: "asks"})
				for range 5 {
					if status := r.asksWhetherMoot(first, asking{}); status != 202 {
						t.Errorf("got %d", status)
					}
					time.Sleep(12 * time.Second)
				}
				again := r.do(asking{name: "asks", params: first.with("")})
				if fmt.Sprint(again.Result.Requests) != fmt.Sprint(first.Result.Requests) {
					t.Errorf("without an answer: got %s", again.text)
				}
				next := r.do(asking{name: "asks", params: first.answers(accepted)})
				if len(next.Result.Requests) != 1 {
					t.Fatalf("got %s", next.text)
				}
				if status := r.asksWhetherMoot(next, asking{}); status != 202 {
					t.Errorf("the second question: got %d", status)
				}
				time.Sleep(2*time.Minute + time.Second)
				if status := r.asksWhetherMoot(next, asking{}); status != 204 {
					t.Errorf("when it is too late for an answer: got %d", status)
				}
			})
		})
	}
}

// A call is lost with the berth that reads it, where nobody else can.
func TestACallIsMootWhoseBerthIsLost(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		f.berths["a"] = nil
		if status := r.asksWhetherMoot(first, asking{by: b}); status != 204 {
			t.Errorf("got %d", status)
		}
		if lost := r.do(asking{name: "asks", by: b, params: first.with("")}); lost.Error == nil || !strings.Contains(lost.text, mcp.ReasonHolderLost) {
			t.Errorf("got %s", lost.text)
		}
	})
}

// Where a berth may live nobody knows that.
func TestACallIsNotMootWhoseBerthMayLive(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		f.loses = 4
		if status := r.asksWhetherMoot(first, asking{by: b}); status != 202 {
			t.Errorf("got %d", status)
		}
		if g := r.do(asking{name: "asks", by: b, params: first.answers(accepted)}); len(g.Result.Got) != 1 {
			t.Errorf("got %s", g.text)
		}
	})
}
