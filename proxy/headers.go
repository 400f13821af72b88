package proxy

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"
)

// way is how requests go to upstreams for this one, as it stands now.
func (x *request) way() outbound.Way { return x.wayFrom(standpointOf(&x.decision)) }

// standpoint is what a decision means to those who are asked on the way.
type standpoint struct {
	owner     *routing.Upstream
	inSession bool
	left      bool
}

func standpointOf(at *routing.Decision) standpoint {
	inSession := at.Key.Kind == sticky.Session
	return standpoint{at.Owner, inSession, inSession && at.Owner != nil && at.Owner.Name != at.Binding.Upstream}
}

func (x *request) wayFrom(at standpoint) outbound.Way {
	return outbound.Way{Call: x.Call, InSession: at.inSession, Owner: at.owner, Alias: x.Alias, Left: at.left, Report: x.p.audit, Log: x.p.log}
}

// streamHeaders copies the headers of an upstream's event stream to the client.
func streamHeaders(way outbound.Way, out *reply.Writer, response *wire.Response) {
	copyHeaders(way, out, response)
	out.Header().Del("Content-Length")
	out.Header().Set("X-Accel-Buffering", "no")
}

// copyHeaders copies an answer's headers to the client.
func copyHeaders(way outbound.Way, out *reply.Writer, response *wire.Response) {
	out.ReadBy(nil)
	h := out.Header()
	inbound.CopyEndToEnd(h, response.Header)
	if way.HasOddSession(h) {
		h.Del(mcp.HeaderSession) // of an answer that hands out none
	}
	if !h.Has("Content-Type") {
		h.Withhold("Content-Type") // keeps net/http from guessing one
	}
	if way.Alias != "" && h.Get(mcp.HeaderSession) != "" {
		h.Set(mcp.HeaderSession, way.Session)
	}
	outbound.AddVia(h, response.ProtoMajor, response.ProtoMinor)
}
