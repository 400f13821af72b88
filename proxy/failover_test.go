package proxy_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/proxy"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// The client goes on in its session and notices nothing: the next instance was told
// what the first one was, the tool runs once, and what follows goes there at once.
func TestSessionOutlivesItsInstance(t *testing.T) {
	for name, lose := range losses {
		for _, tcp := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, tcp=%v", name, tcp), func(t *testing.T) {
				f := newRig(t, reinit(rigOptions{tcp: tcp, probe: true}))
				session := f.initialize()
				f.furnish(session)
				lose(f, f.servers[0])
				for range 3 {
					if got := f.who(session); got != "b" {
						t.Fatalf("answered by %s, want b", got)
					}
				}
				b := f.servers[1]
				b.wantSession(t)
				if ran, opened := b.Executions()+f.servers[2].Executions(), f.calls("initialize"); ran != 3 || opened != 2 {
					t.Errorf("%d tools ran, %d sessions were opened, want 3 and 2", ran, opened)
				}
				if r := f.in(session, http.MethodDelete, ""); r.status != http.StatusNoContent || len(b.Sessions()) != 0 {
					t.Errorf("DELETE got %d, and left %v", r.status, b.Sessions())
				}
				if bound, err := f.sessionBinding(session); err == nil {
					t.Errorf("after DELETE still bound to %s", bound.Upstream)
				}
			})
		}
	}
}

// Every kind of request moves a session but those that mean the instance that is lost.
func TestWhatMovesASession(t *testing.T) {
	for name, c := range map[string]struct {
		method, body string
		status       int
		moves        bool
	}{
		"tool":            {http.MethodPost, message("tools/call", `"name":"who"`), 200, true},
		"list":            {http.MethodPost, message("tools/list", ""), 200, true},
		"notification":    {http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, 202, true},
		"initialized":     {http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, true},
		"answer":          {http.MethodPost, `{"jsonrpc":"2.0","id":0,"result":{}}`, 202, false},
		"poll":            {http.MethodPost, message("tasks/get", byID("of a")), 503, false},
		"cancellation":    {http.MethodPost, message("tasks/cancel", byID("of a")), 503, false},
		"end":             {http.MethodDelete, "", 404, false},
		"batch":           {http.MethodPost, "[" + message("tools/list", "") + "," + message("ping", "") + "]", 200, true},
		"batch of answer": {http.MethodPost, `[{"jsonrpc":"2.0","id":0,"result":{}},` + message("ping", "") + "]", 404, false},
		"batch with poll": {http.MethodPost, "[" + message("tasks/get", byID("of a")) + "," + message("ping", "") + "]", 404, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, reinit(rigOptions{}))
				session := f.open(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-03-26"`))).Header.Get("Mcp-Session-Id")
				f.lose(f.servers[0])
				r := f.do(f.request(t.Context(), c.method, c.body, "Mcp-Session-Id", session))
				if opened := f.calls("initialize") - 1; r.status != c.status || (opened == 1) != c.moves {
					t.Errorf("got %d %s, and %d sessions opened anew; want %d, moves: %v", r.status, r.body, opened, c.status, c.moves)
				}
				if n := f.servers[1].Calls("notifications/initialized"); c.moves && n != 1 {
					t.Errorf("%d notifications/initialized, want one", n)
				}
				if n := f.servers[1].Calls("") + f.calls("tasks/get") + f.calls("tasks/cancel"); n != 0 {
					t.Errorf("%d messages went where they do not belong", n)
				}
			})
		})
	}
}

// A session that was ended is not opened anew by who comes late.
func TestEndedSessionIsNotOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.in(session, http.MethodDelete, "")
		if r := f.legacy(session, "ping", ""); r.status/100 == 2 || f.calls("initialize") != 1 {
			t.Errorf("got %d, and %d sessions opened anew", r.status, f.calls("initialize")-1)
		}
	})
}

// What was sent may run: it is not sent again, and the session stays.
func TestNothingMovesInMidCall(t *testing.T) {
	for name, c := range map[string]struct {
		fault  faultFunc
		status int
	}{
		"broken off": {reset, http.StatusBadGateway},
		"no answer":  {func(_ http.ResponseWriter, r *http.Request, _ []byte) bool { <-r.Context().Done(); return true }, http.StatusGatewayTimeout},
		"overloaded": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, http.StatusServiceUnavailable},
		"a 404 of the tool's": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusNotFound)
			return true
		}, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, reinit(rigOptions{tcp: true, endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Call = 500 * time.Millisecond }}))
			session := f.initialize()
			f.servers[0].inject(onMethod("tools/call", c.fault))
			if r := f.legacy(session, "tools/call", `"name":"who"`); r.status != c.status {
				t.Errorf("got %d %s, want %d", r.status, r.body, c.status)
			}
			if calls, opened := f.calls("tools/call"), f.calls("initialize"); calls != 1 || opened != 1 {
				t.Errorf("%d tool calls were sent, %d sessions opened; want one each", calls, opened)
			}
			f.servers[0].inject(nil)
			if got := f.who(session); got != "a" {
				t.Errorf("afterwards answered by %s, want a", got)
			}
		})
	}
}

// A 400 is seldom about the session; here it is about a version that nobody negotiated.
func TestRefusalOfARequestMovesNothing(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.initialize()
	r := f.do(f.request(t.Context(), http.MethodPost, message("ping", ""), "Mcp-Session-Id", session, "Mcp-Protocol-Version", "1999-12-31"))
	if r.status != http.StatusBadRequest || f.calls("initialize") != 1 {
		t.Errorf("got %d %s, and %d sessions opened anew", r.status, r.body, f.calls("initialize")-1)
	}
}

// An instance that cannot be reached may be alive, but it was sent nothing.
func TestUnreachableInstanceLosesItsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{probe: true}))
		session := f.initialize()
		time.Sleep(5 * time.Second) // idle connections are closed by then
		f.network.cut("a")
		if got := f.who(session); got != "b" {
			t.Errorf("answered by %s, want b", got)
		}
		f.network.mend("a")
		time.Sleep(2 * time.Second)
		if got := f.who(session); got != "b" {
			t.Errorf("after its return answered by %s, want b", got)
		}
	})
}

// The instance was taken out of the configuration.
func TestSessionOutlivesItsUpstreamsName(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.initialize()
	f.furnish(session)
	f.removeFirst()
	if got := f.who(session); got != "b" {
		t.Errorf("answered by %s, want b", got)
	}
	f.servers[1].wantSession(t)
}

// The id that the client knows is the only one that it sees, and the instance's own
// the only one that the instance sees; each request's credentials are its own.
func TestMovedSessionKeepsItsNameOnBothSides(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.initialize()
	f.lose(f.servers[0])
	b := f.servers[1]
	b.inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Mcp-Session-Id", r.Header.Get("Mcp-Session-Id")) // as SDKs echo it
		return false
	})
	for range 2 {
		r := f.do(f.request(t.Context(), http.MethodPost, message("ping", ""),
			append(legacyHeader(session), "Authorization", "Bearer now", "Idempotency-Key", "one")...))
		if got := r.header.Get("Mcp-Session-Id"); r.status != 200 || got != session {
			t.Errorf("got %d with session %q, want the client's", r.status, got)
		}
	}
	if got := b.LastHeader("ping").Get("Mcp-Session-Id"); got == session || got == "" {
		t.Errorf("the instance was given session %q", got)
	}
	h := b.LastHeader("initialize")
	if h.Get("Authorization") != "Bearer now" || h.Get("Mcp-Session-Id") != "" || h.Get("Idempotency-Key") != "" {
		t.Errorf("the new session was opened with %v", h)
	}
}

// A session with more to be told than is kept ends with its instance.
func TestSessionTooLargeToBeKeptEnds(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.initialize()
	for i := range 3 {
		f.legacy(session, "resources/subscribe", fmt.Sprintf(`"uri":"file:///%d/%s"`, i, strings.Repeat("x", 30<<10)))
	}
	if got := f.who(session); got != "a" {
		t.Errorf("answered by %s, want a", got)
	}
	f.lose(f.servers[0])
	if r := f.legacy(session, "ping", ""); r.status != http.StatusNotFound || f.calls("initialize") != 1 {
		t.Errorf("got %d, and %d sessions opened anew; want 404", r.status, f.calls("initialize")-1)
	}
}

// With principals, nobody moves what is another's.
func TestOnlyItsPrincipalMovesASession(t *testing.T) {
	t.Run("killed", func(t *testing.T) { onlyItsPrincipalMoves(t, func(f *rig) { f.lose(f.servers[0]) }) })
	t.Run("removed", func(t *testing.T) { onlyItsPrincipalMoves(t, (*rig).removeFirst) })
}

func onlyItsPrincipalMoves(t *testing.T, lose func(f *rig)) {
	f := newRig(t, reinit(rigOptions{tcp: true, principals: true}))
	as := func(user, session, method, params string) reply {
		return f.do(f.request(t.Context(), http.MethodPost, message(method, params), append(legacyHeader(session), userHeader, user)...))
	}
	session := as("alice", "", "initialize", `"protocolVersion":"2025-11-25"`).header.Get("Mcp-Session-Id")
	lose(f)
	if r := as("mallory", session, "ping", ""); r.status != http.StatusNotFound || f.calls("initialize") != 1 {
		t.Errorf("mallory got %d, and %d sessions opened anew", r.status, f.calls("initialize")-1)
	}
	if r := as("alice", session, "ping", ""); r.status != http.StatusOK {
		t.Errorf("alice got %d %s", r.status, r.body)
	}
	if r := as("mallory", session, "ping", ""); r.status != http.StatusNotFound {
		t.Errorf("afterwards mallory got %d", r.status)
	}
}

// The operator sees it: a line, a count, and in the record of the request that did it.
func TestMoveIsSeen(t *testing.T) {
	journal, access := new(realtest.Journal), new(realtest.Journal)
	reader := sdkmetric.NewManualReader()
	f := newRig(t, reinit(rigOptions{tcp: true, options: func(o *proxy.Options) {
		o.Logger = slog.New(slog.NewTextHandler(journal, nil))
		o.AccessLog = slog.New(slog.NewTextHandler(access, nil))
		o.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	}}))
	session := f.initialize()
	f.lose(f.servers[0])
	f.who(session)
	if got := journal.String(); !strings.Contains(got, `msg="session moved" pool=p from=a to=b`) || strings.Contains(got, session) {
		t.Errorf("log: %s", got)
	}
	realtest.Eventually(t, "an access record of the move", func() bool { return strings.Contains(access.String(), "upstream=b moved_from=a") })
	if got := sumOf(t, reader, "berth.sessions.moved", "outcome", "moved"); got != 1 {
		t.Errorf("moves counted: got %d, want 1", got)
	}
}
