package proxy_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"berth/internal/mcptest"
	"berth/proxy"
	"berth/proxy/outbound"
)

// pinged pings the upstream that handler is, or an instance of the fleet.
func pinged(t *testing.T, s setup) error {
	t.Helper()
	var ep *proxy.Endpoint
	s.upstreams = 1
	s.endpoint = func(e *proxy.Endpoint) { ep = e }
	start(t, s)
	return outbound.To(ep).Ping(t.Context(), ep.Router.Pool.Upstreams()[0], "")
}

// Servers of either era answer a ping, if only to say that they want a session first.
func TestPingIsAnsweredInJSONRPC(t *testing.T) {
	for name, server := range map[string]func(*mcptest.Server){
		"sessions":          nil,
		"sessions required": func(s *mcptest.Server) { s.SessionOptional = false },
		"stateless":         func(s *mcptest.Server) { s.Stateless = true },
		"events":            func(s *mcptest.Server) { s.SSE = true },
	} {
		if err := pinged(t, setup{server: server}); err != nil {
			t.Errorf("%s: got %v, want none", name, err)
		}
	}
}

func TestPingTellsWhatIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		media, body string
		want        error
	}{
		"an error in JSON-RPC":      {400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no session"}}`, nil},
		"refused in words":          {422, "text/plain", "expected initialize", outbound.ErrUnclear},
		"too many":                  {429, "text/plain", "slow down", outbound.ErrUnclear},
		"credentials":               {401, "application/json", `{"error":"login"}`, outbound.ErrCredentials},
		"forbidden":                 {403, "text/plain", "no", outbound.ErrCredentials},
		"another path":              {404, "text/html", "<h1>not found</h1>", outbound.ErrNotMCP},
		"a site":                    {200, "text/html", "<h1>welcome</h1>", outbound.ErrNotMCP},
		"JSON of another kind":      {200, "application/json", `{"status":"up"}`, outbound.ErrNotMCP},
		"elsewhere":                 {307, "text/html", "", outbound.ErrNotMCP},
		"a balancer without a pool": {503, "text/html", "<h1>no server</h1>", outbound.ErrNotMCP},
	} {
		err := pinged(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.media)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// An upstream is pinged as it is called: by the name that it knows, with the
// credentials that it takes.
func TestPingIsSentAsCallsAre(t *testing.T) {
	seen := make(chan *http.Request, 1)
	var ep *proxy.Endpoint
	start(t, setup{
		upstreams: 1,
		endpoint: func(e *proxy.Endpoint) {
			ep = e
			ep.Host = "tools.test"
			ep.Authorization = &proxy.Authorization{Value: func() string { return "Bearer berth's" }}
		},
		handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r }),
	})
	_ = outbound.To(ep).Ping(t.Context(), ep.Router.Pool.Upstreams()[0], "")
	r := <-seen
	if got := r.Header.Get("Authorization"); r.Host != "tools.test" || got != "Bearer berth's" {
		t.Errorf("got host %q and authorization %q, want the pool's", r.Host, got)
	}
}
