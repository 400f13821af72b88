package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// full is a sender by which no session may be opened.
type full struct{ exchange.Sender }

func (f full) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if request.Header.Get(mcp.HeaderSession) == "" {
		return exchange.TurnedAway(&mcp.Error{Status: wire.StatusServiceUnavailable}, []byte(`"berth"`)), nil
	}
	return f.Sender.Send(ctx, request, wait)
}

// A caller who has all sessions of the bridge, or finds all of an instance's taken, is refused by berth, and none of these instances is the worse for it.
func TestSessionsThatBerthDoesNotOpenEjectNobody(t *testing.T) {
	for name, change := range map[string]func(ep *proxy.Endpoint, o *bridge.Options){
		"the bridge's":   func(_ *proxy.Endpoint, o *bridge.Options) { o.Sessions = 1 },
		"the instance's": func(ep *proxy.Endpoint, _ *bridge.Options) { ep.Client = full{ep.Client} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b *bridge.Bridge
				f := newRig(t, rigOptions{size: 2, upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy }, endpoint: func(ep *proxy.Endpoint) {
					keys, _ := seal.NewKeyring(make([]byte, seal.MinSecret))
					o := bridge.Options{Endpoint: ep, Keys: keys}
					change(ep, &o)
					b = bridge.New(o)
					ep.Bridge = b
				}})
				f.background(b.Run)
				over := make(chan struct{})
				for _, srv := range f.servers {
					srv.inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						if mcp.Param(body, "name") != "slow" {
							return false
						}
						select {
						case <-over:
						case <-time.After(time.Minute):
						}
						return sayResult(plainResult)(w, r, body)
					})
				}
				call := func() reply {
					asked := `"name":"slow","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
					return f.do(f.request(t.Context(), http.MethodPost, message("tools/call", asked), modernHeader("tools/call", "slow")...))
				}
				for range len(f.servers) {
					go call()
				}
				synctest.Wait()
				refused := 0
				for range 20 {
					if r := call(); r.status == http.StatusServiceUnavailable {
						refused++
					}
				}
				for _, u := range []string{"a", "b"} {
					if s := f.pool.Find(u).State(); s.Name != health.StateOK || refused != 20 {
						t.Errorf("%s: %+v, after %d refusals", u, s, refused)
					}
				}
				close(over)
				time.Sleep(20 * time.Minute) // what the bridge holds has run out
			})
		})
	}
}
