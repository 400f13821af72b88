package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/h1/server"
	"berth/internal/mcptest"
	"berth/internal/wire"
	"berth/routing"
	"berth/sticky"
)

// in makes a request in a session.
func (f *rig) in(session, method, body string, header ...string) reply {
	f.t.Helper()
	return f.do(f.request(f.t.Context(), method, body, append(legacyHeader(session), header...)...))
}

func (f *rig) sessionBinding(id string) (sticky.Binding, error) {
	b, _, err := f.bindings.Lookup(f.t.Context(), f.router.SessionKey("", id))
	return b, err
}

func TestSessionIsBoundWithItsVersionBeforeItLeaves(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sse=%v", sse), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f *rig
				unbound := 0
				watch := func(next server.Handler) server.Handler {
					return handlerFunc(func(w wire.Client, r *wire.Request) bool {
						return next.Serve(&headerWatch{w, func(h *wire.Header) {
							if _, err := f.sessionBinding(h.Get("Mcp-Session-Id")); err != nil {
								unbound++
							}
						}}, r)
					})
				}
				f = newRig(t, rigOptions{wrap: watch, server: func(s *mcptest.Server) { s.SSE = sse }})
				session := f.initialize()
				if unbound > 0 {
					t.Error("the session's id left before it was bound")
				}
				if b, err := f.sessionBinding(session); err != nil || b.Upstream != "a" || b.Version != "2025-11-25" {
					t.Errorf("bound as %+v, %v; want a, 2025-11-25", b, err)
				}
			})
		})
	}
}

// headerWatch tells of the header before it is sent.
type headerWatch struct {
	wire.Client
	before func(*wire.Header)
}

func (w *headerWatch) WriteHeader(status int) {
	w.before(w.Header())
	w.Client.WriteHeader(status)
}

func TestAllOfASessionFollowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
		f.initialize()
		session := f.initialize() // at the second instance
		if r := f.in(session, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.status != http.StatusAccepted || r.body != "" {
			t.Errorf("notification got %d %q", r.status, r.body)
		}
		if r := f.in(session, http.MethodPost, `{"jsonrpc":"2.0","id":9,"result":{}}`); r.status != http.StatusAccepted {
			t.Errorf("response got %d %q", r.status, r.body)
		}
		if r := f.legacy(session, "tools/call", `"name":"who"`); r.message(t).Result.StructuredContent.Instance != "b" {
			t.Errorf("call got %s", r.body)
		}
		ctx, leave := context.WithCancel(t.Context())
		resp := f.open(f.request(ctx, http.MethodGet, "", append(legacyHeader(session), "Last-Event-ID", "s-7")...))
		if got := newEventLines(t, resp).event(); !strings.Contains(got, "stream open on b") {
			t.Errorf("GET got %q", got)
		}
		if got := f.servers[1].LastHeader(http.MethodGet).Get("Last-Event-Id"); got != "s-7" {
			t.Errorf("Last-Event-ID arrived as %q", got)
		}
		leave()
		if r := f.in(session, http.MethodDelete, ""); r.status != http.StatusNoContent {
			t.Errorf("DELETE got %d %q", r.status, r.body)
		}
		if b, err := f.sessionBinding(session); err == nil {
			t.Errorf("still bound to %s after DELETE", b.Upstream)
		}
		if n := f.servers[0].Calls("tools/call") + f.servers[2].Calls("tools/call") + f.servers[0].Calls("") + f.servers[2].Calls(""); n != 0 {
			t.Errorf("%d messages of the session went elsewhere", n)
		}
	})
}

// The owner is who tells a client that its session has ended (2025-11-25,
// transports, "Session Management"). A 404 may be about a method as well.
func TestOwnersDenialOfASessionIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		f.servers[0].Restart()
		r := f.legacy(session, "tools/list", "")
		if r.status != http.StatusNotFound || r.message(t).Error.Code != -32001 {
			t.Errorf("got %d %s, want the upstream's own 404", r.status, r.body)
		}
		if _, err := f.sessionBinding(session); err != nil {
			t.Errorf("not bound any more: %v", err)
		}
	})
}

// A DELETE that the server does not allow ends nothing.
func TestRefusedDeleteKeepsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return r.Method == http.MethodDelete
		})
		if r := f.in(session, http.MethodDelete, ""); r.status != http.StatusMethodNotAllowed {
			t.Errorf("got %d", r.status)
		}
		if _, err := f.sessionBinding(session); err != nil {
			t.Error("the session is forgotten")
		}
	})
}

// On legacy calls the session decides, not the task; on modern ones the header
// means nothing.
func TestSessionHeaderDecidesInTheLegacyEraOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
		first, second := f.initialize(), f.initialize()
		core := f.newCoreTask(first, 0)
		r := f.legacy(second, "tasks/get", byID(core))
		if m := r.message(t); m.Error == nil || m.Error.Code != -32602 || f.servers[1].Calls("tasks/get") != 1 {
			t.Errorf("got %d %s with %d calls at b, want the refusal of the session's owner", r.status, r.body, f.servers[1].Calls("tasks/get"))
		}
		id := f.newTask(0) // round robin: at c
		if r := f.poll(id, "Mcp-Session-Id", first); r.message(t).Result == nil {
			t.Errorf("modern poll with a session header got %d %s", r.status, r.body)
		}
		r = f.modern("tools/call", "who", `"name":"who"`, "Mcp-Session-Id", "nobody-knows")
		if r.status != http.StatusOK || f.calls("ping") != 0 {
			t.Errorf("modern call with an unknown session got %d %s, and %d pings were sent", r.status, r.body, f.calls("ping"))
		}
	})
}

// The owner's port is closed: the instance is gone and its sessions with it, so
// the client must begin anew, whatever it asks for and however often.
func TestSessionOfADeadOwnerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		session := f.initialize()
		core := f.newCoreTask(session, 3600)
		f.servers[0].kill()
		if r := f.legacy(session, "tools/list", ""); r.status != http.StatusNotFound || r.message(t).Error.Code != -32600 {
			t.Errorf("got %d %s, want 404", r.status, r.body)
		}
		for range 2 {
			if r := f.legacy(session, "tasks/cancel", byID(core)); r.status != http.StatusNotFound {
				t.Errorf("a call about a task got %d %s, want 404", r.status, r.body)
			}
		}
		if again := f.initialize(); again == session {
			t.Error("the same session again")
		}
	})
}

// An owner that cannot be reached may come back within its grace.
func TestSessionOfAnUnreachableOwnerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		session := f.initialize()
		time.Sleep(5 * time.Second) // idle connections are closed by then
		f.network.cut("a")
		defer f.network.mend("a")
		f.legacy(session, "tools/list", "").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		time.Sleep(31 * time.Second)
		if r := f.legacy(session, "tools/list", ""); r.status != http.StatusNotFound {
			t.Errorf("after the grace got %d %s, want 404", r.status, r.body)
		}
	})
}
