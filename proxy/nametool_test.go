package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"berth/proxy/inbound"
)

// What a server might take for a tool's name, and no rule about tools counts, is sent to none: in either era, and in a batch.
func TestACallThatNamesNoToolIsRefused(t *testing.T) {
	t.Parallel()
	b := ruled(t, inbound.PerPrincipal, nil, false)
	sent := b.contacted()
	refused := func(what string, r reply) {
		t.Helper()
		if r.status != http.StatusBadRequest || r.code() != -32602 {
			t.Errorf("%s: got %v, want 400, -32602", what, r)
		}
	}
	for _, params := range []string{`{"name":["echo"]}`, `{"name":5}`, `{"name":null}`, `{"name":{"echo":1}}`, `{"arguments":{}}`, `["echo"]`} {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
		refused("legacy "+params, b.post(call))
		refused("batch "+params, b.post(`[`+call+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`, "MCP-Protocol-Version", "2025-03-26"))
	}
	refused("modern", b.modern("tools/call", "", `"name":["echo"],"arguments":{}`))
	if got := b.contacted(); got != sent {
		t.Errorf("%d requests were sent", got-sent)
	}
}

// What a server might take for a task's id, and berth for none, is sent to none: it could be another's.
func TestALegacyRequestThatNamesNoTaskIsRefused(t *testing.T) {
	t.Parallel()
	b := start(t, setup{upstreams: 1, principals: true})
	sent := b.contacted()
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/delete"} {
		for _, params := range []string{`["task-1"]`, `{"task_id":"task-1"}`, `{"id":"task-1"}`, `{}`} {
			r := b.post(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, "X-User", "eve")
			if r.code() != -32602 || !strings.Contains(r.body, "taskId is missing") {
				t.Errorf("%s of %s: got %v, want -32602 taskId is missing", method, params, r)
			}
		}
	}
	if got := b.contacted(); got != sent {
		t.Errorf("%d requests were sent", got-sent)
	}
}
