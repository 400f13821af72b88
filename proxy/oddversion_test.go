package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A version in the body that no header can bear is refused before berth asks anybody in its caller's name: what cannot be sent to an upstream
// would count as that one's failure.
func TestAVersionThatNoHeaderBearsHarmsNoUpstream(t *testing.T) {
	for _, version := range []string{`x\u0001y`, `2026-07-28\n`, `\u00e9`, strings.Repeat("9", 10_000)} {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 2})
			body := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"nope","_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
				`","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
			for range 6 {
				if r := f.do(f.request(t.Context(), http.MethodPost, body)); r.status != http.StatusBadRequest || !strings.Contains(r.body, "Unsupported protocol version") {
					t.Fatalf("%.20q: got %d %.200s", version, r.status, r.body)
				}
			}
			if n := f.servers[0].Calls("tasks/get"); n != 0 {
				t.Errorf("%.20q: the upstream was asked %d times", version, n)
			}
		})
	}
}
