package proxy

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// heldCall is the request as a task's call: what belongs to the call, and whatever else
// goes upstream with it.
func (x *request) heldCall() *upgrade.Call {
	all := x.way().Headers()
	own := map[string][]string{}
	for name, values := range all {
		if outbound.IsCallsOwn(name) {
			own[name] = values
		}
	}
	session := all.Get(mcp.HeaderSession)
	return &upgrade.Call{Body: x.Body, Own: own, Session: session, Envelope: x.envelopeOf(all)}
}

// envelope is what the request bears beside its call: who makes it, from where, with what
// right.
func (x *request) envelope() upgrade.Envelope { return x.envelopeOf(x.way().Headers()) }

// envelopeOf takes what belongs to one request out of headers.
func (x *request) envelopeOf(headers wire.Header) upgrade.Envelope {
	e := upgrade.Envelope{Host: x.HTTP.Host, Query: x.HTTP.URL.RawQuery, Header: headers}
	e.Bare = e.Query == ""
	for name := range e.Header {
		switch {
		case outbound.IsCallsOwn(name), name == inbound.HeaderOnce, name == "Content-Length", name == mcp.HeaderSession, name == mcp.HeaderLastEvent:
			delete(e.Header, name) // of one request each, or kept beside
		case !isHarmless(name):
			e.Bare = false
		}
	}
	return e
}

// isHarmless: headers that cannot be what a caller authenticates with.
func isHarmless(name string) bool {
	switch name {
	case "Accept-Encoding", "Accept-Language", "User-Agent", "Origin", "Referer", "Cache-Control", "Pragma",
		"Traceparent", "Tracestate", "Baggage", "Dnt", "Priority":
		return true
	}
	return inbound.IsForwarding(name) || strings.HasPrefix(name, "Sec-")
}
