package command

import (
	"testing"

	"berth/internal/config"
)

// Whether there are principals is asked at two places, the router's and the proxy's.
// They must agree, or what is bound to nobody is told to everybody.
func TestPrincipalsAreWiredWhole(t *testing.T) {
	for principal, want := range map[string]string{config.PrincipalNone: "", config.PrincipalHeader + "X-User": "X-User"} {
		cfg := config.Default()
		cfg.Auth.Principal = principal
		pool := config.DefaultPool()
		pool.Upstreams = []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}
		cfg.Pools = []config.Pool{pool}
		options := proxyOptions(cfg, nil, true, observers{})
		if options.PrincipalHeader != want {
			t.Errorf("%s: got header %q, want %q", principal, options.PrincipalHeader, want)
		}
		ep, err := new(graph).newEndpoint(cfg.Auth, pool, observers{})
		if err != nil {
			t.Fatal(err)
		}
		if ep.Router.Principals != (want != "") {
			t.Errorf("%s: got principals %v in the router", principal, ep.Router.Principals)
		}
	}
}
