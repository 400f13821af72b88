package outbound

import (
	"net"
	"net/textproto"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// MakeOwn turns the headers of a client's request into those of a POST of berth's own.
func MakeOwn(h wire.Header) {
	PostJSON(h)
	h.Del(mcp.HeaderMethod)
	h.Del(mcp.HeaderName)
	h.Del(mcp.HeaderLastEvent)
	DropCallsOwn(h)
}

// DropCallsOwn removes what a client said of its own call and not of itself.
func DropCallsOwn(h wire.Header) {
	h.Del(inbound.HeaderOnce)
	for name := range h {
		if strings.HasPrefix(name, mcp.HeaderParamPrefix) {
			delete(h, name)
		}
	}
}

// IsCallsOwn reports whether a header is one of those that mirror a call's body, or say how it is to be read and answered.
func IsCallsOwn(name string) bool {
	switch name {
	case "Accept", "Content-Type":
		return true
	}
	return strings.HasPrefix(name, "Mcp-") && name != mcp.HeaderSession
}

// AddVia appends berth to the proxies that a message came through (RFC 9110, 7.6.3).
func AddVia(h wire.Header, major, minor int) {
	switch before := h["Via"]; {
	case major != 1 || minor != 1:
		h["Via"] = append(before, wire.Version(major, minor)+" berth")
	case len(before) == 0:
		h["Via"] = viaHTTP11
	default:
		h["Via"] = append(before, viaHTTP11...)
	}
}

// viaHTTP11 is what berth adds to Via of nearly all messages.
var viaHTTP11 = []string{"1.1 berth"}

// Headers returns the headers to send upstream: the client's, less what
// concerns this connection or cannot be believed, and who it came from.
func (w Way) Headers() wire.Header {
	h := w.HTTP.Header.Clone()
	inbound.DropHopByHop(h)
	dropLookalikes(h, w.Endpoint.PrincipalHeader())
	if !w.Trusted {
		for name := range h {
			if inbound.IsForwarding(name) {
				delete(h, name)
			}
		}
		if name := w.Endpoint.PrincipalHeader(); name != "" {
			h.Del(name)
		}
	}
	if w.Endpoint.Identifier != nil && !w.InSession {
		// Only a session that was found to be the caller's own may be acted in.
		h.Del(mcp.HeaderSession)
	}
	if len(w.Message.Calls) == 0 && w.Era() == mcp.EraModern {
		// A modern GET or DELETE is about no session, and resumes nothing (2026-07-28,
		// "Earlier Streamable HTTP Revisions"); its upstream may know both eras.
		h.Del(mcp.HeaderSession)
		h.Del(mcp.HeaderLastEvent)
	}
	w.renameSession(h)
	w.Authorize(h)
	w.addForwarded(h)
	// Answers are looked into, so they must come as they are.
	h.Set("Accept-Encoding", "identity")
	return h
}

// Authorize does the same for the request's own. What a client may ask before it is
// authorised goes without berth's own authority.
func (w Way) Authorize(h wire.Header) {
	w.Endpoint.Authorize(h)
	if w.Opaque && w.Endpoint.Authorization != nil {
		h.Del("Authorization")
	}
}

func (w Way) addForwarded(h wire.Header) {
	peer, _, err := net.SplitHostPort(w.HTTP.RemoteAddr)
	if err != nil {
		peer = w.HTTP.RemoteAddr
	}
	if before := h.Values("X-Forwarded-For"); len(before) > 0 {
		peer = strings.Join(before, ", ") + ", " + peer
	}
	own := ownHeaders{h, make([]string, 0, 3)}
	own.set("X-Forwarded-For", peer)
	if h.Get("X-Forwarded-Host") == "" {
		own.set("X-Forwarded-Host", w.HTTP.Host)
	}
	if h.Get("X-Forwarded-Proto") == "" {
		own.set("X-Forwarded-Proto", inbound.Scheme(w.HTTP))
	}
	AddVia(h, w.HTTP.ProtoMajor, w.HTTP.ProtoMinor)
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
