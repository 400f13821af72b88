package proxy

import (
	"slices"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/sticky"
)

// way is how requests go to upstreams for this one, as it stands now.
func (x *request) way() outbound.Way {
	return outbound.Way{
		Call: x.Call, InSession: x.decision.Key.Kind == sticky.Session, Owner: x.decision.Owner, Alias: x.Alias,
		Report: x.p.audit, Log: x.p.log,
	}
}

// inboundHeaders copies an answer's headers to the client.
func (x *request) inboundHeaders(response *wire.Response) {
	x.out.ReadBy(nil)
	h := x.out.Header()
	for name, values := range response.Header {
		h[name] = slices.Clip(values) // what is added to one is not added to the other
	}
	inbound.DropHopByHop(h)
	if x.HasOddSession(h) {
		h.Del(mcp.HeaderSession) // of an answer that hands out none
	}
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // keeps net/http from guessing one
	}
	if x.Alias != "" && h.Get(mcp.HeaderSession) != "" {
		h.Set(mcp.HeaderSession, x.Session)
	}
	outbound.AddVia(h, response.ProtoMajor, response.ProtoMinor)
}
