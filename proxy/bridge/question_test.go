package bridge

import (
	"testing"
)

// What the server asks ends the request, its client's answer reaches the call that asked, and the
// tool runs once.
func TestAQuestionIsAnsweredInMidCall(t *testing.T) {
	for name, u := range map[string]*upstream{"with event ids": {}, "without": {plain: true}} {
		t.Run(name, func(t *testing.T) {
			u.tools = map[string]func(*running){"asks": func(k *running) { k.ends(k.ask()) }}
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				if first.status != 200 || first.Result.Type != "input_required" || first.Result.State == "" || len(first.Result.Requests) != 1 {
					t.Fatalf("got %d %s", first.status, first.text)
				}
				for key, q := range first.Result.Requests {
					if q.Method != "elicitation/create" || string(q.Params) != formAsk {
						t.Errorf("%s is %s of %s", key, q.Params, q.Method)
					}
				}
				last := r.do(asking{name: "asks", id: `"x"`, params: first.answers(accepted)})
				if want := `{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","got":[` + accepted + `]}}`; last.status != 200 || last.text != want {
					t.Errorf("got %d %s", last.status, last.text)
				}
				if n := len(r.sent("tools/call")); n != 1 {
					t.Errorf("the tool ran %d times", n)
				}
			})
		})
	}
}
