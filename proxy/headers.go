package proxy

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/reply"
)

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
