package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy"
	"berth/routing"
	"berth/upgrade"
)

// TestAuthorizationGoesUpstreamAsConfigured, with berth's own questions too.
func TestAuthorizationGoesUpstreamAsConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		rule *proxy.Authorization
		want []string // what upstreams see
	}{
		"forward": {nil, []string{"Bearer client's"}},
		"strip":   {new(proxy.Authorization), nil},
		"replace": {&proxy.Authorization{Value: func() string { return "Bearer berth's" }}, []string{"Bearer berth's"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, setup{upstreams: 1, endpoint: func(ep *proxy.Endpoint) { ep.Authorization = c.rule }})
			b.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`, "Authorization", "Bearer client's")
			b.modern("tasks/get", "lost", byID("lost"), "Authorization", "Bearer client's")
			for _, method := range []string{"tools/call", "tasks/get"} {
				if got := b.fleet[0].LastHeader(method).Values("Authorization"); strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("%s: got %q, want %q", method, got, c.want)
				}
			}
		})
	}
}

// TestOwnAuthorityIsNotLentBeforeAuthorization: who asks for a document has shown
// nothing.
func TestOwnAuthorityIsNotLentBeforeAuthorization(t *testing.T) {
	seen := make(chan []string, 2)
	b := start(t, setup{
		endpoint: func(ep *proxy.Endpoint) {
			ep.Authorization = &proxy.Authorization{Value: func() string { return "Bearer berth's" }}
		},
		handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Values("Authorization") }),
	})
	b.send(http.MethodGet, "/.well-known/oauth-authorization-server", "", "Authorization", "Bearer client's")
	b.send(http.MethodOptions, "/mcp", "")
	for range 2 {
		if got := <-seen; len(got) != 0 {
			t.Errorf("got %q, want none", got)
		}
	}
}

// TestStreamThatIsJoinedAgainBearsTheRenewedCredential: the one that it began with may
// have expired.
func TestStreamThatIsJoinedAgainBearsTheRenewedCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var value atomic.Value
		value.Store("Bearer first")
		f := newRig(t, rigOptions{probe: true, endpoint: func(ep *proxy.Endpoint) {
			ep.FleetNotifications = true
			ep.Authorization = &proxy.Authorization{Value: func() string { return value.Load().(string) }}
		}})
		f.subscribe("1", listsFilter)
		seen := func() string { return f.servers[1].LastHeader("subscriptions/listen").Get("Authorization") }
		if got := seen(); got != "Bearer first" {
			t.Errorf("got %q, want the first", got)
		}
		value.Store("Bearer second")
		f.servers[1].kill()
		f.servers[1].start("b")
		time.Sleep(30 * time.Second)
		if got := seen(); got != "Bearer second" {
			t.Errorf("joined again: got %q, want the second", got)
		}
	})
}

// sentBy notes in whose name calls went to a bridge, which it stands for.
type sentBy struct {
	exchange.Sender
	mu  sync.Mutex // guards the field below
	all []exchange.Unsent
}

// To implements proxy.Bridge.
func (s *sentBy) To(*routing.Upstream) exchange.Sender   { return s }
func (s *sentBy) OnTo(*routing.Upstream) exchange.Sender { return s }
func (s *sentBy) Bridges(*routing.Upstream) bool         { return true }
func (s *sentBy) Doubt(_ context.Context, _ *routing.Upstream, _ *exchange.Request, response *wire.Response, _ time.Duration) (*wire.Response, error) {
	return response, nil
}

// Send implements exchange.Sender.
func (s *sentBy) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if request.Header.Get(mcp.HeaderMethod) == mcp.MethodCallTool {
		s.mu.Lock()
		s.all = append(s.all, request.Unsent)
		s.mu.Unlock()
	}
	return s.Sender.Send(ctx, request, wait)
}

// TestBridgeIsToldWhoCallsThoughUpstreamsAreNot, of calls that pass and of those that are held alike, under their client's token or the
// next one.
func TestBridgeIsToldWhoCallsThoughUpstreamsAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := new(sentBy)
		f := newUpgraded(t, rigOptions{endpoint: func(ep *proxy.Endpoint) {
			by.Sender, ep.Bridge, ep.Authorization = ep.Client, by, new(proxy.Authorization)
		}}, func(r *upgrade.Rule) { r.Tools = []string{"work"} })
		f.answers(sayResult(done))
		for _, token := range []string{"Bearer alice", "Bearer bob"} {
			f.modern("tools/call", "other", `"name":"other","arguments":{}`, "Authorization", token)
			f.made("Authorization", token)
			synctest.Wait()
		}
		if len(by.all) != 4 || by.all[0] != by.all[1] || by.all[2] != by.all[3] || by.all[0].Digest == "" || by.all[0].Digest == by.all[2].Digest || !by.all[0].Authorization {
			t.Errorf("got %+v", by.all)
		}
	})
}
