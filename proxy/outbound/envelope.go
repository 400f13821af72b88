package outbound

import (
	"cmp"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// HeldCall is the request as a task's call: what belongs to the call, and whatever else
// goes upstream with it.
func (w Way) HeldCall() *upgrade.Call {
	headers := w.Headers()
	if w.Era() == mcp.EraModern && !headers.Has(mcp.HeaderVersion) { // it was let pass without
		headers.Set(mcp.HeaderVersion, w.Version())
	}
	own, envelope := w.split(headers)
	call := &upgrade.Call{Body: w.Body, Own: own, Session: headers.Get(mcp.HeaderSession), Envelope: envelope}
	if areOfEachRound(headers) {
		call.Sent = headers
	}
	return call
}

// areOfEachRound reports whether headers would be the same if they were made anew from the call, as those of a later round are: none is of
// one request only, and the session's is one that says something.
func areOfEachRound(headers *wire.Header) bool {
	session, n := headers.First(mcp.HeaderSession)
	return !headers.Has(inbound.HeaderOnce) && !headers.Has(mcp.HeaderLastEvent) && (n == 0 || n == 1 && session != "")
}

// Envelope is what the request bears beside its call: who makes it, from where, with what
// right.
func (w Way) Envelope() upgrade.Envelope {
	_, envelope := w.split(w.Headers())
	return envelope
}

// split returns what of the headers belongs to the call, and what to the request beside it.
func (w Way) split(headers *wire.Header) (own upgrade.Pairs, e upgrade.Envelope) {
	fields := headers.Fields()
	all := make(upgrade.Pairs, 0, 2*len(fields)) // of both: they are kept for as long as the call takes
	for _, f := range fields {
		if IsCallsOwn(f.Name) {
			all = append(all, f.Name, f.Value)
		}
	}
	n := len(all)
	unsent := w.unsentToSome()
	e = upgrade.Envelope{
		Host: w.HTTP.Host, Query: w.HTTP.URL.RawQuery, Unsent: unsent.Digest, Bare: w.HTTP.URL.RawQuery == "" && unsent.Digest == "",
	}
	for _, f := range fields {
		switch {
		case IsCallsOwn(f.Name), f.Name == inbound.HeaderOnce, f.Name == mcp.HeaderSession, f.Name == mcp.HeaderLastEvent:
			// the call's, of one request each, or kept beside
		default:
			all = append(all, f.Name, f.Value)
			e.Bare = e.Bare && isHarmless(f.Name)
		}
	}
	e.Header = all[n:]
	return all[:n:n], e
}

// isHarmless: headers that cannot be what a caller authenticates with.
func isHarmless(name string) bool {
	switch name {
	case "Traceparent", "Tracestate", "Baggage":
		return true
	}
	return inbound.IsOfProgram(name) || inbound.IsForwarding(name)
}

// Behind is what the records of tasks call the upstream's own session behind that of the call.
func (w Way) Behind() string {
	return upgrade.BehindKey(w.SessionKey(), cmp.Or(w.Alias, w.Session))
}
