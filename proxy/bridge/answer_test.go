package bridge

import (
	"net/http"
	"strings"
	"testing"
)

// A refusal of the server's in no words of JSON-RPC is told with its status, and what it says of the call.
func TestARefusalSaysWhatBecameOfTheCall(t *testing.T) {
	for status, want := range map[int]string{401: `"outcome":"not_executed"`, 429: `"outcome":"not_executed"`, 408: `"outcome":"unknown"`, 500: `"outcome":"unknown"`} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			u := tool(kind{}, holdsUp)
			u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method == "tools/call" {
					respond(w, status, `{}`)
				}
				return m.Method == "tools/call"
			}
			bridged(t, u, nil, func(r *rig) {
				if g := r.do(byOne); g.status != status || !strings.Contains(g.text, want) || !strings.Contains(g.text, http.StatusText(status)) {
					r.t.Errorf("got %d %s", g.status, g.text)
				}
			})
		})
	}
}
