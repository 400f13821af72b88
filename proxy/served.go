package proxy

import (
	"mime"

	"berth/internal/mcp"
	"berth/proxy/fault"
)

// checkServed refuses a request for what a server must not let pass. It is called where
// berth itself is the server: of what it passes on the upstream judges.
func (x *request) checkServed() error {
	if !x.declaresJSON() {
		return fault.ContentType
	}
	if !x.takesAnswers() {
		return fault.Accept
	}
	if x.era() == mcp.EraLegacy {
		return x.checkLegacyVersion()
	}
	missing, refusal := x.call().CheckServed(x.r.Header, x.endpoint.Lenient)
	if refusal != nil {
		return refusal
	}
	for _, header := range missing {
		x.p.telemetry.lacked(x, header)
	}
	return nil
}

// declaresJSON reports whether the body is declared as what it is.
func (x *request) declaresJSON() bool {
	types := x.r.Header.Values("Content-Type")
	if len(types) == 0 {
		return x.endpoint.Lenient
	}
	for _, value := range types {
		if media, _, err := mime.ParseMediaType(value); err != nil || media != jsonText {
			return false
		}
	}
	return true
}

// takesAnswers reports whether the client takes what it may be given. Modern ones must take
// both types (2026-07-28, "Sending Messages"); those before are given the one they take.
func (x *request) takesAnswers() bool {
	h := x.r.Header
	json, events := accepts(h, jsonText), accepts(h, eventStream)
	switch {
	case x.era() == mcp.EraLegacy:
		return json || events || len(h.Values("Accept")) == 0
	case !x.endpoint.Lenient:
		return json && events
	case len(h.Values("Accept")) == 0:
		return true
	case x.subscribes():
		return events
	}
	return json
}

// checkLegacyVersion: a version that names no revision is refused (2025-11-25, transports,
// "Protocol Version Header"); none means the session's.
func (x *request) checkLegacyVersion() error {
	for _, version := range x.r.Header.Values(mcp.HeaderVersion) {
		if !mcp.IsLegacyVersion(version) {
			return fault.NoSuchLegacy
		}
	}
	return nil
}
