package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/upgrade"
)

// TestRefusedBatchOfOneIsAnArray: whoever asks in an array is answered in one, where it is
// the call that is refused and not the array (JSON-RPC 2.0, 6).
func TestRefusedBatchOfOneIsAnArray(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.Required = true })
	f.servers[0].kill()
	f.eventually("a pool without upstreams", func() bool { return f.legacy("", "ping", "").status == 503 })
	old := []string{"MCP-Protocol-Version", "2025-03-26"}
	ping := message("ping", "")
	type object = map[string]any
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		array  bool
		id     any // of the error; nil: none
	}{
		"no upstream":              {`[` + ping + `]`, old, 503, true, 1.0},
		"blanks around":            {" [ " + ping + " ]\n", old, 503, true, 1.0},
		"an unknown session":       {`[` + ping + `]`, append([]string{"Mcp-Session-Id", "g o n e"}, old...), 404, true, 1.0},
		"a tool that is a task":    {`[` + message("tools/call", `"name":"work"`) + `]`, old, 400, true, 1.0},
		"no such task":             {`[` + message("tasks/get", byID(strings.Repeat("x", 300))) + `]`, old, 200, true, 1.0},
		"no JSON-RPC":              {`[{"jsonrpc":"1.0","id":7,"method":"ping"}]`, old, 400, true, 7.0},
		"no message":               {`[1]`, old, 400, true, nil},
		"two readers":              {`[{"jsonrpc":"2.0","id":"a","method":"ping","method":"x"}]`, old, 400, true, "a"},
		"two of them":              {`[` + ping + `,` + ping + `]`, old, 503, false, nil},
		"two, one of which is bad": {`[1,` + ping + `]`, old, 400, false, nil},
		"a notification":           {`[{"jsonrpc":"2.0","method":"notifications/x"}]`, old, 503, false, nil},
		"no batches":               {`[` + ping + `]`, []string{"MCP-Protocol-Version", "2025-06-18"}, 400, false, nil},
		"none":                     {`[]`, old, 400, false, nil},
		"no JSON":                  {`[`, old, 400, false, nil},
		"no batch":                 {ping, old, 503, false, 1.0},
	} {
		r := f.do(f.request(t.Context(), http.MethodPost, c.body, c.header...))
		var alone object
		var several []object
		err := json.Unmarshal([]byte(r.body), &alone)
		if c.array {
			if err = json.Unmarshal([]byte(r.body), &several); len(several) == 1 {
				alone = several[0]
			}
		}
		if r.status != c.status || err != nil || alone["error"] == nil || alone["id"] != c.id || c.array && len(several) != 1 {
			t.Errorf("%s: got %v (%v), want %d, id %v, in an array: %v", name, r, err, c.status, c.id, c.array)
		}
	}
}

// only takes the one member of an array for the answer.
func (r reply) only(t *testing.T) reply {
	t.Helper()
	var several []json.RawMessage
	if err := json.Unmarshal([]byte(r.body), &several); err != nil || len(several) != 1 {
		t.Fatalf("got %v, want an array of one", r)
	}
	r.body = string(several[0])
	return r
}
