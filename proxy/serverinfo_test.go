package proxy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/build"
)

// berthsInfo is what berth says of itself in the `_meta` of results that it makes (2026-07-28,
// basic, "Per-response protocol fields").
const berthsInfo = `"io.modelcontextprotocol/serverInfo":{"name":"berth","version":"` + build.Version + `"}`

// named returns the server that a result names; "" for none.
func named(t *testing.T, result json.RawMessage) string {
	t.Helper()
	var m struct {
		Meta map[string]struct{ Name, Version string } `json:"_meta"`
	}
	if err := json.Unmarshal(result, &m); err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	info := m.Meta["io.modelcontextprotocol/serverInfo"]
	return strings.TrimSpace(info.Name + " " + info.Version)
}

// berth names itself in what it makes, and in nothing that a tool or its server has made.
func TestResultsOfBerthsOwnNameIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayResult(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}`), sayResult(done))
		resultOf := func(r reply) json.RawMessage {
			var m struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(r.body), &m); err != nil || m.Result == nil {
				t.Fatalf("got %v", r)
			}
			return m.Result
		}
		handle := f.callTool()
		id := f.taskOf(handle)
		f.reaches(id, "input_required")
		asking := f.poll(id)
		acknowledged := f.answer(id, `{"a":{"action":"decline"}}`)
		ended := f.reaches(id, "completed")
		for what, r := range map[string]reply{
			"handle": handle, "asking": asking, "acknowledged": acknowledged, "ended": f.poll(id), "cancel": f.modern("tasks/cancel", id, byID(id)),
		} {
			if got := named(t, resultOf(r)); got != "berth "+build.Version {
				t.Errorf("%s: named %q in %v", what, got, r)
			}
		}
		if got := named(t, ended.Result); got != "" {
			t.Errorf("the tool's result names %q", got)
		}
		f.servers[0].inject(sayResult(`{"resultType":"complete","tools":[]}`))
		if r := f.modern("tools/list", "", ""); named(t, resultOf(r)) != "" {
			t.Errorf("the server's result names %v", r)
		}
		core := f.legacy("", "tasks/get", byID(id))
		if strings.Contains(core.body, "serverInfo") {
			t.Errorf("in the legacy era: %v", core)
		}
	})
}
