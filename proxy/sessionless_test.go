package proxy_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"

	"berth/routing"
)

const noSession = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: no session"},"id":null}`

// sessionless answers initialize without a session, and all else as a server that keeps none.
func sessionless(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(body, &m)
	switch {
	case methodIn(body) == "initialize":
		return say(jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"2"}}}`)(w, r, body)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	return say(jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{}}`)(w, r, body)
}

// demandsSession counts requests of the legacy era that are in no session, and refuses them by refuse.
func demandsSession(count *atomic.Int64, refuse faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if methodIn(body) == "initialize" || r.Header.Get("Mcp-Session-Id") != "" {
			return false
		}
		count.Add(1)
		return refuse(w, r, body)
	}
}

// A pool of instances that work in sessions and others that do not serves clients of either: what is in no session goes where none is
// demanded.
func TestAPoolWithAndWithoutSessionsServesClientsOfBoth(t *testing.T) {
	for name, refuse := range map[string]faultFunc{
		"TypeScript": sayStatus(400, jsonType, noSession),
		"Python":     sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`),
		"words":      sayStatus(400, "text/plain; charset=utf-8", "no session\n"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
			var refused atomic.Int64
			f.servers[0].inject(demandsSession(&refused, refuse))
			f.servers[1].inject(demandsSession(&refused, refuse))
			f.servers[2].inject(sessionless)
			for i := range 12 {
				session := f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`).header.Get("Mcp-Session-Id")
				for _, method := range []string{"tools/list", "tools/call"} {
					if r := f.legacy(session, method, `"name":"greet","arguments":{"name":"x"}`); r.status != http.StatusOK {
						t.Fatalf("client %d, session %q: %s got %d %s", i, session, method, r.status, r.body)
					}
				}
				if r := f.do(f.legacyRequest(t.Context(), session, "notifications/initialized", "")); session == "" && r.status/100 != 2 {
					t.Errorf("client %d: the notification got %d %s", i, r.status, r.body)
				}
			}
			if refused.Load() == 0 {
				t.Error("nobody was refused: the test shows nothing")
			}
		})
	}
}

// Where all demand a session the refusal passes as it came, and who is known to demand one is not asked in vain.
func TestARefusalForWantOfASessionPasses(t *testing.T) {
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
	var refused atomic.Int64
	for _, s := range f.servers {
		s.inject(demandsSession(&refused, sayStatus(400, jsonType, noSession)))
	}
	for range 10 {
		if r := f.legacy("", "tools/list", ""); r.status != http.StatusBadRequest || r.body != noSession {
			t.Fatalf("got %d %s", r.status, r.body)
		}
	}
	if got := refused.Load(); got != 12 {
		t.Errorf("%d requests for 10 of a client", got)
	}
}

// A refusal of a tool that bears the call's id is that call's, and no other instance runs it.
func TestARefusalThatBearsTheIDStays(t *testing.T) {
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
	var refused atomic.Int64
	for _, s := range f.servers {
		s.inject(demandsSession(&refused, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			var m struct{ ID json.RawMessage }
			_ = json.Unmarshal(body, &m)
			return sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32000,"message":"the session of the database is over"}}`)(w, r, body)
		}))
	}
	f.legacy("", "tools/call", `"name":"greet","arguments":{"name":"x"}`)
	if got := refused.Load(); got != 1 {
		t.Errorf("%d instances got the call", got)
	}
}
