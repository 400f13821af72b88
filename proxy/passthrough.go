package proxy

import (
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// passThrough forwards what lies beside the MCP endpoint at the pool's origin,
// discovery documents and CORS preflights, to any upstream, unread. Preflights that no
// upstream answers are berth's to answer.
func (x *request) passThrough() error {
	if err := x.p.gate.SpareReserve(x.Call); err != nil {
		return err
	}
	x.Opaque = true
	x.Ctx = x.HTTP.Context()
	x.rec.StartSpan()
	x.Decision.Source = routing.SourcePicked
	err := x.forwardUnbound()
	if err != nil && x.IsPreflight() && x.out.MayAnswer() && x.Word(err) != nil {
		x.out.Grant(x.Grantable())
		return nil
	}
	return err
}

// isOfBridge reports whether a preflight is about a request that is bridged at u: its answer will be berth's own, whatever u says of
// the pages that may have u's. Only those of the modern era bear Mcp-Method.
func isOfBridge(c *inbound.Call, u *routing.Upstream) bool {
	if speaks, known := u.SpeaksModern(); speaks || !known || c.Endpoint.Bridge == nil {
		return false
	}
	return slices.ContainsFunc(c.Grantable(), func(name string) bool { return strings.EqualFold(name, mcp.HeaderMethod) })
}

// answersPreflight reports whether an upstream's answer to a preflight is one: it lets some
// page in, or it forbids, or it shows that it knows of such questions. Servers that do not
// have all sorts of answers.
func answersPreflight(response *wire.Response) bool {
	if response.Status == wire.StatusForbidden {
		return true
	}
	for _, f := range response.Header.Fields() {
		if strings.HasPrefix(f.Name, "Access-Control-") {
			return true
		}
	}
	return false
}
