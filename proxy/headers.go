package proxy

import (
	"net"
	"net/textproto"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/sticky"
)

// dropLookalikes removes names with underscores that many servers read as if
// they had hyphens: a client must not set Mcp_Name beside Mcp-Name.
func dropLookalikes(h wire.Header, principalHeader string) {
	for name := range h {
		if !strings.Contains(name, "_") {
			continue
		}
		meant := textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
		if strings.HasPrefix(meant, "Mcp-") || inbound.IsForwarding(meant) || strings.EqualFold(meant, principalHeader) {
			delete(h, name)
		}
	}
}

// outboundHeaders returns the headers to send upstream: the client's, less what
// concerns this connection or cannot be believed, and who it came from.
func (x *request) outboundHeaders() wire.Header {
	h := x.HTTP.Header.Clone()
	inbound.DropHopByHop(h)
	dropLookalikes(h, x.Endpoint.PrincipalHeader())
	if !x.Trusted {
		for name := range h {
			if inbound.IsForwarding(name) {
				delete(h, name)
			}
		}
		if name := x.Endpoint.PrincipalHeader(); name != "" {
			h.Del(name)
		}
	}
	if x.Endpoint.Identifier != nil && x.decision.Key.Kind != sticky.Session {
		// Only a session that was found to be the caller's own may be acted in.
		h.Del(mcp.HeaderSession)
	}
	if len(x.Message.Calls) == 0 && x.Era() == mcp.EraModern {
		// A modern GET or DELETE is about no session, and resumes nothing (2026-07-28,
		// "Earlier Streamable HTTP Revisions"); its upstream may know both eras.
		h.Del(mcp.HeaderSession)
		h.Del(mcp.HeaderLastEvent)
	}
	x.renameSession(h)
	x.authorize(h)
	x.addForwarded(h)
	// Answers are looked into, so they must come as they are.
	h.Set("Accept-Encoding", "identity")
	return h
}

// hasOddSession reports whether an answer names a session by what no client could send
// back, or not alike to all readers.
func (x *request) hasOddSession(h wire.Header) bool {
	values := h[mcp.HeaderSession]
	return len(values) > 1 || len(values) == 1 && !x.IsFitForSession(values[0])
}

func (x *request) addForwarded(h wire.Header) {
	peer, _, err := net.SplitHostPort(x.HTTP.RemoteAddr)
	if err != nil {
		peer = x.HTTP.RemoteAddr
	}
	if before := h.Values("X-Forwarded-For"); len(before) > 0 {
		peer = strings.Join(before, ", ") + ", " + peer
	}
	own := ownHeaders{h, make([]string, 0, 3)}
	own.set("X-Forwarded-For", peer)
	if h.Get("X-Forwarded-Host") == "" {
		own.set("X-Forwarded-Host", x.HTTP.Host)
	}
	if h.Get("X-Forwarded-Proto") == "" {
		own.set("X-Forwarded-Proto", inbound.Scheme(x.HTTP))
	}
	outbound.AddVia(h, x.HTTP.ProtoMajor, x.HTTP.ProtoMinor)
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "") // keeps net/http from adding its own
	}
}

// ownHeaders sets headers whose values lie together, in one allocation.
type ownHeaders struct {
	wire.Header

	values []string
}

// set sets a header of canonical name.
func (o *ownHeaders) set(name, value string) {
	o.values = append(o.values, value)
	n := len(o.values)
	o.Header[name] = o.values[n-1 : n : n]
}

// inboundHeaders copies an answer's headers to the client.
func (x *request) inboundHeaders(response *wire.Response) {
	x.out.ReadBy(nil)
	h := x.out.Header()
	for name, values := range response.Header {
		h[name] = slices.Clip(values) // what is added to one is not added to the other
	}
	inbound.DropHopByHop(h)
	if x.hasOddSession(h) {
		h.Del(mcp.HeaderSession) // of an answer that hands out none
	}
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // keeps net/http from guessing one
	}
	if x.alias != "" && h.Get(mcp.HeaderSession) != "" {
		h.Set(mcp.HeaderSession, x.Session)
	}
	outbound.AddVia(h, response.ProtoMajor, response.ProtoMinor)
}
