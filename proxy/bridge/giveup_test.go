package bridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
)

// givesUp sends what upgraded tasks send where their client has cancelled them in mid-call.
func (r *rig) givesUp(round got, a asking) (status int) {
	r.t.Helper()
	return r.notes(mcp.MethodCancelled, mcp.CancelledState(fmt.Appendf(nil, "%q", round.Result.State), ""), a)
}

// A call that waits for its client ends at once when that gives it up: the server is told, and its session is free.
func TestACallThatIsGivenUpWhileItsClientIsAsked(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			bridged(t, tool(of, func(k *running) { k.ends(k.ask()) }), func(o *Options) { o.Sessions = 1 }, func(r *rig) {
				first := r.do(asking{name: "asks", caller: "ann"})
				if status := r.givesUp(first, asking{caller: "bob"}); status/100 != 4 || len(r.told()) != 0 {
					t.Errorf("another caller's word: %d, told %v", status, r.told())
				}
				for range 2 {
					if status := r.givesUp(first, asking{caller: "ann"}); status != 202 {
						t.Errorf("got %d", status)
					}
				}
				if told := r.told(); len(told) != 2 || !strings.Contains(told[0], `"result":{"action":"cancel"}`) || !strings.Contains(told[1], `"reason":"theclienthascancelledit"`) {
					t.Errorf("told %v", told)
				}
				if late := r.do(asking{name: "asks", caller: "ann", params: first.answers(accepted)}); late.Error == nil {
					t.Errorf("an answer after that: %s", late.text)
				}
				if next := r.do(asking{name: "asks", caller: "ann"}); next.Result.Type != "input_required" {
					t.Errorf("the next call: %s", next.text)
				}
				if r.ran() != 2 {
					t.Errorf("the tool ran %d times", r.ran())
				}
			})
		})
	}
}

// So does one whose client has answered, and has left the round that goes on: it is not waited for then.
func TestACallThatIsGivenUpInALaterRound(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				k.ask()
				holdsUp(k)
			})
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				r.goneAfter(time.Second, asking{name: "asks", params: first.answers(accepted)})
				if status := r.givesUp(first, asking{}); status != 202 {
					t.Errorf("got %d", status)
				}
				if told := r.told(); len(told) != 2 || !strings.Contains(told[0], accepted) || !strings.Contains(told[1], `"reason":"theclienthascancelledit"`) {
					t.Errorf("told %v", told)
				}
			})
		})
	}
}

// Any berth gives up a call that another one has asked for.
func TestACallIsGivenUpAtAnotherBerth(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			bridged(t, tool(of, func(k *running) { k.ends(k.ask()) }), nil, func(r *rig) {
				_, a, b, _ := r.join(time.Minute)
				first := r.do(asking{name: "asks", by: a})
				if status := r.givesUp(first, asking{by: b}); status != 202 {
					t.Errorf("got %d", status)
				}
				if told := r.told(); len(told) != 2 {
					t.Errorf("told %v", told)
				}
				time.Sleep(2 * time.Minute)
				if told := r.told(); len(told) != 2 {
					t.Errorf("told again: %v", told)
				}
			})
		})
	}
}
