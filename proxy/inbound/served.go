package inbound

import (
	"mime"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// DeclaresJSON reports whether the body is declared as what it is.
func (x *Call) DeclaresJSON() bool {
	if !x.HTTP.Header.Has("Content-Type") {
		return x.Endpoint.Lenient
	}
	for value := range x.HTTP.Header.Values("Content-Type") {
		if value == wire.JSON {
			continue
		}
		if media, _, err := mime.ParseMediaType(value); err != nil || media != wire.JSON {
			return false
		}
	}
	return true
}

// TakesAnswers reports whether the client takes what it may be given. Modern ones must take
// both types (2026-07-28, "Sending Messages"); those before are given the one they take.
func (x *Call) TakesAnswers() bool {
	h := x.HTTP.Header
	json, events := h.Accepted()
	switch {
	case x.Era() == mcp.EraLegacy:
		return json || events || !h.Has("Accept")
	case !x.Endpoint.Lenient:
		return json && events
	case !h.Has("Accept"):
		return true
	case x.Subscribes:
		return events
	}
	return json
}

// CheckLegacyVersion refuses a version that names no revision (2025-11-25, transports,
// "Protocol Version Header"); none means the session's.
func (x *Call) CheckLegacyVersion() error {
	for version := range x.HTTP.Header.Values(mcp.HeaderVersion) {
		if !mcp.IsLegacyVersion(version) {
			return fault.NoSuchLegacy
		}
	}
	return nil
}
