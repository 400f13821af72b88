package wire

import (
	"strconv"
	"strings"
)

// Media types of answers.
const (
	JSON   = "application/json"
	Events = "text/event-stream"

	// bothTypes is the Accept of nearly all clients.
	bothTypes = JSON + ", " + Events
)

// How specifically a media range names a type: by itself, among its family, or among all.
const (
	byAll = iota + 1
	byFamily
	byItself
)

// Accepts reports whether a client takes an answer of a type, one of the above: of the
// ranges in Accept the most specific one counts, and a weight of 0 refuses (RFC 9110,
// 12.5.1). Without an Accept it is not counted on, as clients must name the types
// (2025-11-25 and 2026-07-28, "Sending Messages to the Server").
func (h *Header) Accepts(media string) bool {
	accepted, _ := h.accepts(media)
	return accepted
}

// Accepted is Accepts of JSON, and of an event stream.
func (h *Header) Accepted() (json, events bool) {
	if h.isUsual() {
		return true, true
	}
	return h.Accepts(JSON), h.Accepts(Events)
}

// isUsual reports whether Accept says what that of nearly all clients does.
func (h *Header) isUsual() bool {
	value, n := h.First("Accept")
	return n == 1 && value == bothTypes
}

// Streams reports whether a client is to be given an event stream where JSON would do as well: it must name them. Who takes
// anything (*/*), which curl and the fetch of browsers say by themselves, may read none.
func (h *Header) Streams() bool {
	accepted, specific := h.accepts(Events)
	return accepted && (specific > byAll || !h.Accepts(JSON))
}

// accepts is Accepts, and tells how specifically the range that counts names the type, 0 if none does.
func (h *Header) accepts(media string) (accepted bool, most int) {
	if h.isUsual() {
		return true, byItself
	}
	for value := range h.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			of, parameters, _ := strings.Cut(part, ";")
			if specific := names(of, media); specific > most {
				accepted, most = !refuses(parameters), specific
			}
		}
	}
	return accepted, most
}

// names tells how specifically a media range names a type, 0 if not at all.
func names(media, wanted string) int {
	family, _, _ := strings.Cut(wanted, "/")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case wanted:
		return byItself
	case family + "/*":
		return byFamily
	case "*/*":
		return byAll
	}
	return 0
}

// refuses reports whether the parameters of a media range give it no weight. A weight
// that cannot be read is none given.
func refuses(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err == nil && weight <= 0
	}
	return false
}
