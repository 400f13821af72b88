package proxy_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/proxy"
	"berth/routing"
)

// What the next instance cannot be told, or answers otherwise, ends the session: the
// client begins anew, and nothing is left behind.
func TestSessionThatCannotBeOpenedAnewEnds(t *testing.T) {
	refuse := say(jsonType, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32603,"message":"no"}}`)
	for name, fault := range map[string]faultFunc{
		"another version":        nil,
		"a subscription refused": onMethod("resources/subscribe", refuse),
		"the level refused":      onMethod("logging/setLevel", refuse),
		"a broken exchange":      onMethod("resources/subscribe", reset),
		"not initialized": onMethod("notifications/initialized", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}),
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, reinit(rigOptions{tcp: true}))
			b := f.servers[1]
			session := f.initialize()
			f.furnish(session)
			f.lose(f.servers[0])
			if fault == nil {
				fault = b.negotiates("2025-06-18")
			}
			b.inject(fault)
			if r := f.legacy(session, "tools/call", `"name":"who"`); r.status != http.StatusNotFound || r.message(t).Error.Code != -32600 {
				t.Errorf("got %d %s, want 404", r.status, r.body)
			}
			if left, ended := b.Sessions(), b.Calls(http.MethodDelete); len(left) != 0 || ended != 1 {
				t.Errorf("left at b: %v; %d ended, want one", left, ended)
			}
			if n := f.calls("tools/call") + f.servers[2].Calls("initialize"); n != 0 {
				t.Errorf("%d calls went on", n)
			}
		})
	}
}

// negotiates has the instance take every client for one that asked for version.
func (s *rigServer) negotiates(version string) faultFunc {
	const again = "X-Again"
	return onMethod("initialize", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Header.Get(again) != "" {
			return false
		}
		r.Header.Set(again, "1")
		r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(body, []byte("2025-11-25"), []byte(version), 1)))
		s.ServeHTTP(w, r)
		return true
	})
}

// An upstream that nothing could be sent to is passed over; one that is alone takes
// its own session anew.
func TestWhereASessionMovesTo(t *testing.T) {
	t.Run("the next is down, too", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.lose(f.servers[1])
		if got := f.who(session); got != "c" {
			t.Errorf("answered by %s, want c", got)
		}
	})
	t.Run("all are down", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		for _, s := range f.servers {
			f.lose(s)
		}
		if r := f.legacy(session, "ping", ""); r.status != http.StatusServiceUnavailable {
			t.Errorf("got %d %s, want 503", r.status, r.body)
		}
	})
	t.Run("alone, and killed for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, reinit(rigOptions{size: 1}))
			session, a := f.initialize(), f.servers[0]
			f.furnish(session)
			f.lose(a)
			for range 2 {
				for method, body := range map[string]string{http.MethodPost: message("ping", ""), http.MethodGet: ""} {
					r := f.in(session, method, body)
					if m := r.message(t); r.status != http.StatusServiceUnavailable || m.Error == nil || m.Error.Data.Reason != "owner_unavailable" {
						t.Errorf("while it is away: %s got %d %s, want 503", method, r.status, r.body)
					}
				}
				time.Sleep(time.Minute)
			}
			a.Restart()
			a.start("a")
			if got := f.who(session); got != "a" {
				t.Errorf("answered by %s, want a", got)
			}
			a.wantSession(t)
		})
	})
	t.Run("the next breaks off", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.servers[1].inject(onMethod("initialize", reset))
		if r := f.legacy(session, "ping", ""); r.status != http.StatusNotFound || f.servers[2].Calls("initialize") != 0 {
			t.Errorf("got %d %s, and %d sessions opened at c; want 404 and none", r.status, r.body, f.servers[2].Calls("initialize"))
		}
	})
	t.Run("the next forgets at once", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		f.lose(f.servers[0])
		b := f.servers[1]
		b.inject(onMethod("tools/call", func(http.ResponseWriter, *http.Request, []byte) bool { b.Restart(); return false }))
		if r := f.legacy(session, "tools/call", `"name":"who"`); r.status != http.StatusNotFound || f.calls("initialize") != 2 {
			t.Errorf("got %d %s, and %d sessions opened; want 404 and one move", r.status, r.body, f.calls("initialize"))
		}
	})
	t.Run("the next goes at once", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		f.lose(f.servers[0])
		b := f.servers[1]
		b.inject(onMethod("notifications/initialized", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("Connection", "close")
			b.listener.Close()
			return false
		}))
		if r := f.legacy(session, "ping", ""); r.status != http.StatusNotFound || f.calls("initialize") != 2 {
			t.Errorf("got %d %s, and %d sessions opened; want 404 and one move", r.status, r.body, f.calls("initialize"))
		}
	})
	t.Run("none drains", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true, upstream: func(i int, u *routing.Upstream) { u.Draining = i == 1 }}))
		session := f.initialize()
		f.lose(f.servers[0])
		if got := f.who(session); got != "c" {
			t.Errorf("answered by %s, want c", got)
		}
	})
	t.Run("alone and restarted", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true, size: 1}))
		session := f.initialize()
		f.furnish(session)
		f.servers[0].Restart()
		if got := f.who(session); got != "a" {
			t.Errorf("answered by %s, want a", got)
		}
		f.servers[0].wantSession(t)
	})
	t.Run("again and again", func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{tcp: true}))
		session := f.initialize()
		f.furnish(session)
		f.lose(f.servers[0])
		f.who(session)
		f.lose(f.servers[1])
		if got := f.who(session); got != "c" {
			t.Errorf("answered by %s, want c", got)
		}
		f.servers[2].wantSession(t)
	})
}

// That berth has no file descriptor left says nothing of the upstream: its sessions stay.
func TestBerthsOwnWantMovesNothing(t *testing.T) {
	var starved atomic.Value // the address that no descriptor is left for
	var dialer net.Dialer
	var client exchange.Sender
	f := newRig(t, reinit(rigOptions{tcp: true, endpoint: func(ep *proxy.Endpoint) {
		client = h1test.NewSender(func(ctx context.Context, network, address string) (net.Conn, error) {
			if starved.Load() == address {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return dialer.DialContext(ctx, network, address)
		}, 0)
		t.Cleanup(client.Close)
		ep.Client = client
	}}))
	session := f.initialize()
	client.Close() // idle connections need no descriptor
	starved.Store(f.servers[0].addr)
	if r := f.legacy(session, "tools/call", `"name":"who"`); r.status != http.StatusServiceUnavailable || f.calls("initialize") != 1 {
		t.Errorf("got %d %s, and %d sessions opened; want 503 and one", r.status, r.body, f.calls("initialize"))
	}
	starved.Store("")
	if got := f.who(session); got != "a" {
		t.Errorf("afterwards answered by %s, want a", got)
	}
}
