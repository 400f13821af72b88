package outbound

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/routing/profile"
)

// noting keeps the last request.
type noting struct{ last *exchange.Request }

func (n *noting) Send(_ context.Context, out *exchange.Request, _ time.Duration) (*wire.Response, error) {
	n.last = out
	return wire.Whole(wire.StatusOK, nil), nil
}

func (*noting) Close() {}

// A silent upstream is asked in the era that it speaks: the modern one has no ping (2026-07-28).
func TestASignOfLifeIsAskedForInTheUpstreamsEra(t *testing.T) {
	for era, want := range map[profile.Spoken]string{profile.SpokenModern: mcp.MethodDiscover, profile.SpokenLegacy: mcp.MethodPing, profile.SpokenUnsaid: mcp.MethodPing} {
		var n noting
		u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u", Path: "/mcp"}, Era: era}
		routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}})
		if err := Probe(&n)(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		body, modern := string(n.last.Body), want == mcp.MethodDiscover
		version, method := n.last.Header.Get(mcp.HeaderVersion), n.last.Header.Get(mcp.HeaderMethod)
		if !strings.Contains(body, `"method":"`+want+`"`) || modern != (version == "2026-07-28" && method == want && strings.Contains(body, `"_meta"`)) || !modern && version+method != "" {
			t.Errorf("era %v: asked with %v %s", era, n.last.Header, body)
		}
	}
}
