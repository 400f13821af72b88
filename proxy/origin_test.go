package proxy_test

import (
	"io"
	"net/http"
	"testing"

	"berth/proxy"
)

// TestPagesOfItsOwnOriginMayCall: off loopback, without a list, a page may call that the
// request itself was sent to the origin of, and no other. Only a trusted proxy's word
// counts for where that was.
func TestPagesOfItsOwnOriginMayCall(t *testing.T) {
	behindProxy := func(o *proxy.Options) { o.Loopback, o.TrustedProxies = false, loopbackPeers }
	for name, c := range map[string]struct {
		options func(*proxy.Options)
		hosts   []string
		header  []string
		want    int
	}{
		"no page":              {offLoopback, nil, []string{"Host", "mcp.example"}, 200},
		"its own":              {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://mcp.example"}, 200},
		"its own, a port":      {offLoopback, nil, []string{"Host", "mcp.example:8080", "Origin", "http://mcp.example:8080"}, 200},
		"the default port":     {offLoopback, nil, []string{"Host", "MCP.example:80", "Origin", "http://mcp.example"}, 200},
		"IPv6":                 {offLoopback, nil, []string{"Host", "[2001:db8::1]:8080", "Origin", "http://[2001:db8::1]:8080"}, 200},
		"another":              {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://evil.example"}, 403},
		"another port":         {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://mcp.example:8080"}, 403},
		"another scheme":       {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "https://mcp.example"}, 403},
		"one below":            {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://a.mcp.example"}, 403},
		"a page of nowhere":    {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "null"}, 403},
		"a host that is null":  {offLoopback, nil, []string{"Host", "null", "Origin", "null"}, 403},
		"an empty one":         {offLoopback, nil, []string{"Host", "mcp.example", "Origin", ""}, 403},
		"loopback":             {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://localhost"}, 403},
		"its own and another":  {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "http://mcp.example", "Origin", "http://evil.example"}, 403},
		"in upper case":        {offLoopback, nil, []string{"Host", "mcp.example", "Origin", "HTTP://MCP.EXAMPLE"}, 403},
		"a claim of nobody's":  {offLoopback, nil, []string{"Host", "10.0.0.1", "Origin", "https://mcp.example", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "mcp.example"}, 403},
		"behind a proxy":       {behindProxy, nil, []string{"Host", "10.0.0.1", "Origin", "https://mcp.example", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "mcp.example"}, 200},
		"behind TLS":           {behindProxy, nil, []string{"Host", "mcp.example", "Origin", "https://mcp.example", "X-Forwarded-Proto", "https"}, 200},
		"behind two":           {behindProxy, nil, []string{"Host", "10.0.0.1", "Origin", "https://mcp.example", "X-Forwarded-Proto", "https, http", "X-Forwarded-Host", "mcp.example, inner"}, 200},
		"behind, another":      {behindProxy, nil, []string{"Host", "mcp.example", "Origin", "https://mcp.example", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "other.example"}, 403},
		"behind, no TLS":       {behindProxy, nil, []string{"Host", "mcp.example", "Origin", "https://mcp.example"}, 403},
		"a listed host":        {offLoopback, []string{"mcp.example"}, []string{"Host", "mcp.example", "Origin", "http://mcp.example"}, 200},
		"behind, a rebound":    {behindProxy, []string{"mcp.example"}, []string{"Host", "mcp.example", "Origin", "http://evil.example", "X-Forwarded-Host", "evil.example"}, 403},
		"loopback, a rebound":  {func(o *proxy.Options) { o.TrustedProxies = loopbackPeers }, nil, []string{"Host", "localhost", "Origin", "http://evil.example", "X-Forwarded-Host", "evil.example"}, 403},
		"loopback, the listed": {nil, []string{"mcp.example"}, []string{"Host", "mcp.example", "Origin", "http://mcp.example"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, setup{handler: obliging, options: c.options, endpoint: func(ep *proxy.Endpoint) { ep.Hosts = c.hosts }})
			if r := b.post(message("ping", ""), c.header...); r.status != c.want {
				t.Errorf("got %v, want %d", r, c.want)
			}
			if n := b.contacted(); n != min(1, 200/c.want) {
				t.Errorf("the upstream saw %d requests", n)
			}
		})
	}
}

// obliging answers whatever it is asked, to whomever.
var obliging = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
