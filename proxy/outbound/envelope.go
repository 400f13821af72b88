package outbound

import (
	"cmp"
	"strings"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// HeldCall is the request as a task's call: what belongs to the call, and whatever else
// goes upstream with it.
func (w Way) HeldCall() *upgrade.Call {
	headers := w.Headers()
	all := headers.Lists()
	own := map[string][]string{}
	for name, values := range all {
		if IsCallsOwn(name) {
			own[name] = values
		}
	}
	session := headers.Get(mcp.HeaderSession)
	return &upgrade.Call{Body: w.Body, Own: own, Session: session, Envelope: w.envelopeOf(all)}
}

// Envelope is what the request bears beside its call: who makes it, from where, with what
// right.
func (w Way) Envelope() upgrade.Envelope { return w.envelopeOf(w.Headers().Lists()) }

// envelopeOf takes what belongs to one request out of headers.
func (w Way) envelopeOf(headers map[string][]string) upgrade.Envelope {
	e := upgrade.Envelope{Host: w.HTTP.Host, Query: w.HTTP.URL.RawQuery, Header: headers}
	e.Bare = e.Query == ""
	for name := range e.Header {
		switch {
		case IsCallsOwn(name), name == inbound.HeaderOnce, name == mcp.HeaderSession, name == mcp.HeaderLastEvent:
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

// Behind is what the records of tasks call the upstream's own session behind that of the call.
func (w Way) Behind() string {
	return upgrade.BehindKey(w.SessionKey(), cmp.Or(w.Alias, w.Session))
}
