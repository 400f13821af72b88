package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// runner is what sends to servers that berth runs, of which some cannot be started.
type runner struct {
	exchange.Sender
	broken map[string]bool // by host
	tried  int
}

var notStarted = &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: "no such program", Reason: "process_failed", Outcome: mcp.NotExecuted}

// Send implements exchange.Sender. Sessions of processes that run go on.
func (r *runner) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if r.broken[request.URL.Hostname()] && request.Header.Get(mcp.HeaderSession) == "" {
		r.tried++
		return nil, &exchange.SendError{Err: notStarted, Refused: true, Unstarted: true}
	}
	return r.Sender.Send(ctx, request, wait)
}

// hosts is a rig of servers that berth runs, which speak the legacy era.
func hosts(t *testing.T, test func(t *testing.T, f *rig, r *runner)) {
	synctest.Test(t, func(t *testing.T) {
		r := &runner{broken: map[string]bool{}}
		var b *bridge.Bridge
		f := newRig(t, rigOptions{probe: true, upstream: func(_ int, u *routing.Upstream) { u.Era, u.Hosted = profile.SpokenLegacy, true }, endpoint: func(ep *proxy.Endpoint) {
			r.Sender, ep.Client = ep.Client, r
			b = bridgeAt(t, ep)
		}})
		f.background(b.Run)
		test(t, f, r)
		time.Sleep(20 * time.Minute) // what the bridge holds has run out
	})
}

func TestWorkMovesOnFromAServerThatCannotBeStarted(t *testing.T) {
	hosts(t, func(t *testing.T, f *rig, r *runner) {
		r.broken["a"] = true
		if f.initialize(); f.servers[1].Calls("initialize") != 1 || r.tried != 1 {
			t.Errorf("a session: %d times at b, after %d attempts", f.servers[1].Calls("initialize"), r.tried)
		}
		if got := f.pool.Find("a").State(); got.Name != health.StateFailing || got.Cause.Error() != notStarted.Message {
			t.Errorf("a is %+v", got)
		}
		if got := f.modern("tools/call", "who", `"name":"who"`); got.message(t).Result.StructuredContent.Instance != "b" {
			t.Errorf("got %d %s, want b's answer", got.status, got.body)
		}
		if r.tried != 1 {
			t.Errorf("a was tried %d times while others are fit", r.tried)
		}
	})
}

func TestBridgedCallMovesOnFromAServerThatCannotBeStarted(t *testing.T) {
	hosts(t, func(t *testing.T, f *rig, r *runner) {
		r.broken["a"] = true
		if got := f.modern("tools/call", "who", `"name":"who"`); got.message(t).Result.StructuredContent.Instance != "b" || r.tried != 1 {
			t.Errorf("got %d %s after %d attempts, want b's answer", got.status, got.body, r.tried)
		}
	})
}

func TestServersThatCannotBeStartedSayWhy(t *testing.T) {
	hosts(t, func(t *testing.T, f *rig, r *runner) {
		r.broken["a"], r.broken["b"], r.broken["c"] = true, true, true
		f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`).fails(t, http.StatusBadGateway, -32603, "process_failed", false)
		f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusBadGateway, -32603, "process_failed", false)
		if r.tried != 6 {
			t.Errorf("%d attempts, want one at each", r.tried)
		}
	})
}

// What runs already is not concerned.
func TestSessionStaysAtAServerThatCanStartNoOther(t *testing.T) {
	hosts(t, func(t *testing.T, f *rig, r *runner) {
		session := f.initialize()
		r.broken["a"] = true
		f.initialize()
		if got := f.legacy(session, "tools/call", `"name":"who"`); got.message(t).Result.StructuredContent.Instance != "a" {
			t.Errorf("got %d %s, want a's answer", got.status, got.body)
		}
	})
}

// What is late is one process, of which its runner knows more: the others go on.
func TestLateAnswerOfAServerThatBerthRunsIsNoSilence(t *testing.T) {
	hosts(t, func(t *testing.T, f *rig, r *runner) {
		session := f.initialize()
		f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			if !strings.Contains(string(body), "tools/") {
				return false
			}
			<-r.Context().Done()
			return true
		})
		f.legacy(session, "tools/list", "").fails(t, http.StatusGatewayTimeout, -31504, "upstream_timeout", true)
		if f.pool.Find("a").Silent() {
			t.Error("the whole of it counts as silent")
		}
		leaving, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		if response, err := f.client.Do(f.legacyRequest(leaving, session, "tools/call", `"name":"who"`)); err == nil {
			response.Body.Close()
			t.Errorf("got %s", response.Status)
		}
		if n := f.servers[0].Calls("ping"); n != 0 {
			t.Errorf("it was asked %d times for a sign of life", n)
		}
	})
}
