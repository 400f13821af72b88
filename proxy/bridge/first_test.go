package bridge

import (
	"strings"
	"testing"
)

// A tool that wants its user at a URL first has the client asked, and is called anew once that has answered.
func TestAToolWantsItsUserElsewhereFirst(t *testing.T) {
	const declaresURL = `{"elicitation":{"url":{}}}`
	const first = `"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"connect"}]}}`
	for name, of := range map[string]kind{"streamed": {}, "whole": {whole: true}} {
		t.Run(name, func(t *testing.T) {
			u := tool(of, nil)
			needs, there := first, false
			u.tools["asks"] = func(k *running) {
				if !there {
					k.result = needs
				}
			}
			bridged(t, u, nil, func(r *rig) {
				if g := r.do(asking{name: "asks", declares: declaresForm}); g.status != 400 || string(g.Error.Data) != `{"requiredCapabilities":{"elicitation":{"url":{}}}}` {
					t.Errorf("without it: got %d %s", g.status, g.text)
				}
				round := r.do(asking{name: "asks", declares: declaresURL})
				if len(round.Result.Requests) != 1 || !strings.Contains(round.text, `{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com/","message":"connect"}}`) {
					t.Fatalf("got %s", round.text)
				}
				if again := r.do(asking{name: "asks", declares: declaresURL, params: round.with(``)}); len(again.Result.Requests) != 1 {
					t.Errorf("without an answer: got %s", again.text)
				}
				ran := r.ran()
				if g := r.do(asking{name: "asks", declares: declaresURL, params: round.answers(`{"action":"decline"}`)}); g.Error == nil || g.Error.Code != -32603 || r.ran() != ran {
					t.Errorf("declined: got %s", g.text)
				}
				needs = `"error":{"code":-32042,"message":"words","data":{"mine":1}}`
				if g := r.do(asking{name: "asks", declares: declaresURL}); !strings.Contains(g.text, `"error":{"code":-32603,"message":"words","data":{"mine":1}}`) {
					t.Errorf("with nothing to ask: got %s", g.text)
				}
				ran, there = r.ran(), true
				if g := r.do(asking{name: "asks", declares: declaresURL, params: round.answers(`{"action":"accept"}`)}); g.Result.Type != "complete" || r.ran() != ran+1 {
					t.Errorf("accepted: got %s", g.text)
				}
				if told := r.told(); len(told) > 0 {
					t.Errorf("the server was told %v", told)
				}
			})
		})
	}
}
