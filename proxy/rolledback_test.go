package proxy_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"berth/proxy"
)

// A server that was modern and is one of the legacy era by now, at the same address, is bridged from the first call that it refuses.
func TestAServerThatIsRolledBackIsServedOn(t *testing.T) {
	var old atomic.Bool
	f := newRig(t, rigOptions{size: 1, endpoint: func(ep *proxy.Endpoint) { bridgeAt(t, ep) }})
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if !old.Load() {
			return methodIn(body) == "tools/call" && sayResult(`{"resultType":"complete","content":[{"type":"text","text":"modern"}]}`)(w, r, body)
		}
		if r.Header.Get("Mcp-Session-Id") == "" && methodIn(body) != "initialize" {
			return sayRefusal(http.StatusBadRequest, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)(w, r, body)
		}
		return asOldServer(w, r, body)
	})
	call := func() reply {
		const meta = `"_meta":{` + metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}}`
		return f.do(f.request(t.Context(), http.MethodPost, message("tools/call", `"name":"answers","arguments":{},`+meta), modernHeader("tools/call", "answers")...))
	}
	if r := call(); !strings.Contains(r.body, "modern") {
		t.Fatalf("of the modern server: %d %s", r.status, r.body)
	}
	old.Store(true)
	for range 2 {
		if r := call(); r.status != http.StatusOK || !strings.Contains(r.body, `"content":[]`) {
			t.Errorf("of the one in its place: %d %s", r.status, r.body)
		}
	}
}
