package proxy_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Each round is the original call with what belongs to it, in the name of who answered.
func TestRoundsOfATask(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	ask := func(keys, state string) string {
		return `{"resultType":"input_required","inputRequests":{` + keys + `}` + state + `}`
	}
	f.answers(
		sayResult(ask(`"a":{"method":"roots/list"},"b":{"method":"roots/list"}`, `,"requestState":"one"`)),
		sayResult(`{"resultType":"input_required","requestState":"two"}`),
		sayResult(ask(`"a":{"method":"roots/list"}`, "")),
		sayResult(done),
	)
	f.servers[0].inject(first(onMethod("server/discover", looksAtTokens), *f.servers[0].fault.Load()))
	id := f.made("Authorization", "Bearer one", "Mcp-Param-Region", "eu", "X-Custom", "one")
	v := f.reaches(id, "input_required", "Authorization", "Bearer one")
	if len(v.InputRequests) != 2 {
		t.Fatalf("asked %v", v.InputRequests)
	}
	for _, part := range []string{`{"a":{"roots":[1]}}`, `{"nobody":{"asked":1}}`, `{"a":{"roots":["late"]}}`} {
		if r := f.answer(id, part, "Authorization", "Bearer one"); r.message(t).Error != nil {
			t.Errorf("answering %s: %v", part, r)
		}
		if v := f.look(id, "Authorization", "Bearer one"); v.Status != "input_required" || len(v.InputRequests) != 1 || v.InputRequests["b"] == nil {
			t.Errorf("after %s: %+v", part, v)
		}
	}
	f.answer(id, `{"b":{"roots":[2]}}`, "Authorization", "Bearer two", "Mcp-Param-Region", "us", "X-Custom", "two")
	var third view
	f.eventually("the next question", func() bool {
		third = f.look(id, "Authorization", "Bearer one")
		return third.Status == "input_required"
	})
	var key string
	for key = range third.InputRequests {
	}
	if len(third.InputRequests) != 1 || key == "a" || key == "b" {
		t.Errorf("asked under the keys %v, which were used before", third.InputRequests)
	}
	f.answer(id, `{"`+key+`":{"roots":[3]}}`, "Authorization", "Bearer three")
	f.reaches(id, "completed", "Authorization", "Bearer one")
	sent := f.seen.of("tools/call")
	if len(sent) != 4 {
		t.Fatalf("%d rounds", len(sent))
	}
	ids := map[string]bool{}
	for i, want := range []struct {
		token, custom, state string
		answers              map[string]string
	}{
		{"Bearer one", "one", "", nil},
		{"Bearer two", "two", "one", map[string]string{"a": `{"roots":[1]}`, "b": `{"roots":[2]}`}},
		{"Bearer two", "two", "two", nil},
		{"Bearer three", "", "", map[string]string{"a": `{"roots":[3]}`}},
	} {
		r := sent[i]
		ids[string(r.msg.ID)] = true
		state := ""
		if r.msg.Params.RequestState != nil {
			state = *r.msg.Params.RequestState
		}
		if r.header.Get("Authorization") != want.token || r.header.Get("X-Custom") != want.custom || state != want.state {
			t.Errorf("round %d: %v, requestState %q, want %+v", i+1, r.header, state, want)
		}
		if r.header.Get("Mcp-Param-Region") != "eu" || r.header.Get("Mcp-Method") != "tools/call" || r.header.Get("Mcp-Name") != "work" || r.msg.Params.Name != "work" {
			t.Errorf("round %d is another call: %v %s", i+1, r.header, r.body)
		}
		got := map[string]string{}
		for key, answer := range r.msg.Params.InputResponses {
			got[key] = string(answer)
		}
		gave, _ := json.Marshal(got)
		wanted, _ := json.Marshal(want.answers)
		if string(gave) != string(wanted) && len(got)+len(want.answers) > 0 {
			t.Errorf("round %d answers %s, want %s", i+1, gave, wanted)
		}
	}
	if len(ids) != 4 {
		t.Errorf("%d ids for 4 rounds", len(ids))
	}
}

// What is no response answers nothing, nor does what comes with it.
func TestAnswerThatIsNoObjectIsRefused(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayResult(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}`), sayResult(done))
	id := f.made()
	f.reaches(id, "input_required")
	for _, value := range []string{`null`, `"yes"`, `7`, `[{}]`, `true`} {
		r := f.answer(id, `{"a":{"roots":[]},"b":`+value+`}`)
		if e := r.message(t).Error; e == nil || e.Code != -32602 || !strings.Contains(r.body, `"data":{"key":"b"}`) {
			t.Errorf("%s: got %v", value, r)
		}
		if v := f.look(id); v.Status != "input_required" || len(v.InputRequests) != 2 {
			t.Errorf("after %s: %+v", value, v)
		}
	}
	for _, part := range []string{`{"nobody":null,"a":{"roots":[]}}`, `{"a":7}`, `{"b":{"roots":[1]}}`} {
		if r := f.answer(id, part); r.message(t).Error != nil {
			t.Errorf("%s: got %v", part, r)
		}
	}
	f.reaches(id, "completed")
	got := f.seen.of("tools/call")[1].msg.Params.InputResponses
	if string(got["a"]) != `{"roots":[]}` || string(got["b"]) != `{"roots":[1]}` || len(got) != 2 {
		t.Errorf("the tool was given %s", got)
	}
}

// TestHeadersOfOneRequestStayBesideTheCall: a round is not to bear what belonged to the request that the task was made by, and each round
// bears the same.
func TestHeadersOfOneRequestStayBesideTheCall(t *testing.T) {
	for name, value := range map[string]string{"Last-Event-Id": "e-1", "Idempotency-Key": "k", "Mcp-Session-Id": ""} {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayResult(done))
		f.reaches(f.made(name, value), "completed")
		for _, call := range f.seen.of("tools/call") {
			if got, found := call.header[name]; found {
				t.Errorf("%s: a round bore %q", name, got)
			}
		}
	}
}
