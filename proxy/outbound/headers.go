package outbound

import (
	"net/textproto"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// MakeOwn turns the headers of a client's request into those of a POST of berth's own.
func MakeOwn(h *wire.Header) {
	PostJSON(h)
	h.Del(mcp.HeaderMethod)
	h.Del(mcp.HeaderName)
	h.Del(mcp.HeaderLastEvent)
	DropCallsOwn(h)
}

// DropCallsOwn removes what a client said of its own call and not of itself.
func DropCallsOwn(h *wire.Header) {
	h.Del(inbound.HeaderOnce)
	h.Drop(func(f wire.Field) bool { return strings.HasPrefix(f.Name, mcp.HeaderParamPrefix) })
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
func AddVia(h *wire.Header, major, minor int) {
	if major != 1 || minor != 1 {
		h.Append(via.Of(wire.Version(major, minor)+" berth", true))
		return
	}
	h.Append(via)
}

// Fields that berth adds, in words of its own or in others.
var (
	via            = wire.Own("Via", "1.1 berth") // of nearly all messages
	identity       = wire.Own("Accept-Encoding", "identity")
	nameless       = wire.Own("User-Agent", "")
	forwardedFor   = wire.Own("X-Forwarded-For", "")
	forwardedHost  = wire.Own("X-Forwarded-Host", "")
	forwardedProto = wire.Own("X-Forwarded-Proto", "")
)

// added is how many headers berth may add on the way.
const added = 6

// Headers returns the headers to send upstream: the client's, less what
// concerns this connection or cannot be believed, and who it came from.
func (w *Way) Headers() *wire.Header {
	h := new(wire.Header)
	w.fill(h)
	return h
}

// fill is Headers into h, which is empty.
func (w *Way) fill(h *wire.Header) {
	w.pass(h, w.HTTP.Header)
	w.renameSession(h)
	w.Authorize(h)
	w.addForwarded(h)
	h.Put(identity) // answers are looked into, so they must come as they are
}

// pass has h, which is empty, have those of the client's headers that go upstream.
func (w *Way) pass(h, client *wire.Header) {
	listed, principal := inbound.ConnectionNames(client), wire.CanonicalName(w.Endpoint.PrincipalHeader())
	said := client.Fields()
	sent, n := append(h.Spare(len(said)+added), said...), 0
	for i := range sent {
		f := &sent[i]
		goes := passed[f.Usual] && f.Name != principal || !inbound.IsHopByHop(f.Name) && !w.withholds(f.Name, principal)
		if !goes || len(listed) > 0 && slices.Contains(listed, f.Name) {
			continue
		}
		if n < i {
			sent[n] = *f
		}
		n++
	}
	clear(sent[n:])
	h.Use(sent[:n], client)
}

// passed are the names of headers that go upstream unless Connection lists them, or they say who calls.
var passed = wire.UsualsThat(func(name string) bool { return !inbound.IsHopByHop(name) && !isDoubtful(name) })

// isDoubtful reports whether more than this name decides what becomes of a header.
func isDoubtful(name string) bool {
	switch name {
	case mcp.HeaderSession, mcp.HeaderLastEvent, "Content-Length":
		return true
	}
	return inbound.IsForwarding(name) || hasUnderscore(name)
}

// withholds reports whether a header of the client's does not go upstream. principal is the one that names who calls, "" for
// none.
func (w *Way) withholds(name, principal string) bool {
	isWhoCalls := !w.Trusted && name == principal
	if !isDoubtful(name) {
		return isWhoCalls
	}
	switch name {
	case mcp.HeaderSession:
		// Only a session that was found to be the caller's own may be acted in.
		return w.Endpoint.Identifier != nil && !w.InSession || w.isModernAlone()
	case mcp.HeaderLastEvent:
		return w.isModernAlone()
	case "Content-Length":
		return true // that is the sender's to say
	}
	return isWhoCalls || !w.Trusted && inbound.IsForwarding(name) || isLookalike(name, principal)
}

// isModernAlone: a modern GET or DELETE is about no session, and resumes nothing (2026-07-28,
// "Earlier Streamable HTTP Revisions"); its upstream may know both eras.
func (w *Way) isModernAlone() bool { return len(w.Message.Calls) == 0 && w.Era() == mcp.EraModern }

// Authorize is Endpoint.Authorize for this request: what a client may ask before it is
// authorised goes without berth's own authority.
func (w *Way) Authorize(h *wire.Header) {
	w.Endpoint.Authorize(h)
	if w.Opaque && w.Endpoint.Authorization != nil {
		h.Del("Authorization")
	}
}

// addForwarded tells where the request came from.
func (w *Way) addForwarded(h *wire.Header) {
	if w.HTTP.ProtoMajor == 1 && w.HTTP.ProtoMinor == 1 && h.HasNoneOf(firstHop) {
		told := h.AppendSome(firstHop, 0, len(firstHop.Fields()))
		told[0].Value, told[0].Judged = inbound.PeerHost(w.HTTP), w.HTTP.Peer.Is4()
		told[1].Value, told[2].Value = w.HTTP.Host, inbound.Scheme(w.HTTP)
	} else {
		w.joinForwarded(h)
	}
	if h.Lacks(nameless.Name) { // keeps net/http from adding its own
		h.Put(nameless)
	}
}

// firstHop is what a request tells that came through no other proxy, in words that joinForwarded finds too.
var firstHop = func() *wire.Header {
	h := new(wire.Header)
	for _, f := range []wire.Field{forwardedFor, forwardedHost.Of("", false), forwardedProto, via} {
		h.Append(f)
	}
	return h
}()

// joinForwarded is addForwarded where others have told something.
func (w *Way) joinForwarded(h *wire.Header) {
	from := forwardedFor.Of(inbound.PeerHost(w.HTTP), w.HTTP.Peer.Is4())
	if h.Has(from.Name) {
		h.Put(from.Of(h.Join(from.Name, ", ")+", "+from.Value, false))
	} else {
		h.Append(from)
	}
	h.Supply(forwardedHost.Of(w.HTTP.Host, false))
	h.Supply(forwardedProto.Of(inbound.Scheme(w.HTTP), true))
	AddVia(h, w.HTTP.ProtoMajor, w.HTTP.ProtoMinor)
}

// isLookalike reports whether a name has underscores that many servers read as if
// they were hyphens: a client must not set Mcp_Name beside Mcp-Name.
func isLookalike(name, principalHeader string) bool {
	if !hasUnderscore(name) {
		return false
	}
	meant := textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return strings.HasPrefix(meant, "Mcp-") || inbound.IsForwarding(meant) || strings.EqualFold(meant, principalHeader)
}

func hasUnderscore(name string) bool { return strings.IndexByte(name, '_') >= 0 }
