package bridge

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// A refusal of the server's in no words of JSON-RPC is told with its status, and what it says of the call.
func TestARefusalSaysWhatBecameOfTheCall(t *testing.T) {
	for status, want := range map[int]string{401: `"outcome":"not_executed"`, 413: `"outcome":"not_executed"`, 408: `"outcome":"unknown"`, 500: `"outcome":"unknown"`} {
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

// A server that has too much to do is told of as busy, and when to come again: it has done nothing. A 503 that does not say when may be of
// a call that has begun, and what the server words itself stays.
func TestACallThatABusyServerRefusesMayBeMadeAgain(t *testing.T) {
	const own = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"slow down"}}`
	for name, c := range map[string]struct {
		status            int
		says, body, wants string
		later             string
	}{
		"429":              {429, "7", "slow down", `"reason":"overloaded","retryable":true,"retryAfterMs":7000,"mayHaveExecuted":false`, "7"},
		"429 without when": {429, "", "slow down", `"reason":"overloaded","retryable":true,"retryAfterMs":1000,"mayHaveExecuted":false`, "1"},
		"503":              {503, "7", "", `"reason":"overloaded","retryable":true,"retryAfterMs":7000,"mayHaveExecuted":false`, "7"},
		"503 without when": {503, "", "", `"reason":"bad_upstream_response","retryable":false,"mayHaveExecuted":true`, ""},
		"500":              {500, "7", "", `"reason":"bad_upstream_response","retryable":false,"mayHaveExecuted":true`, "7"},
		"its own words":    {429, "7", own, `"message":"slow down"`, "7"},
	} {
		t.Run(name, func(t *testing.T) {
			u, asked := tool(kind{}, holdsUp), 0
			u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != "tools/call" {
					return false
				}
				asked++
				if c.says != "" {
					w.Header().Set("Retry-After", c.says)
				}
				respond(w, c.status, c.body)
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				g := r.do(byOne)
				if g.status != c.status || !strings.Contains(g.text, c.wants) || g.header.Get("Retry-After") != c.later {
					r.t.Errorf("got %d, again after %q: %s", g.status, g.header.Get("Retry-After"), g.text)
				}
				if asked != 1 {
					r.t.Errorf("the server was asked %d times", asked)
				}
			})
		})
	}
}

// What a bound of berth's own turns away says nothing of the server, over the bridge as without.
func TestACallThatABoundTurnsAwayIsTheServersNot(t *testing.T) {
	busy := exchange.TurnedAway(&mcp.Error{Status: wire.StatusServiceUnavailable}, nil)
	if r := failed([]byte("1"), busy, nil); !r.Unasked {
		t.Errorf("got %+v", r)
	}
}
