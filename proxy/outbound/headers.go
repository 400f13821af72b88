package outbound

import (
	"strconv"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// DropCallsOwn removes what a client said of its own call and not of itself.
func DropCallsOwn(h wire.Header) {
	h.Del(inbound.HeaderOnce)
	for name := range h {
		if strings.HasPrefix(name, mcp.HeaderParamPrefix) {
			delete(h, name)
		}
	}
}

// IsCallsOwn: headers that mirror a call's body, or say how it is to be read and answered.
func IsCallsOwn(name string) bool {
	switch name {
	case "Accept", "Content-Type":
		return true
	}
	return strings.HasPrefix(name, "Mcp-") && name != mcp.HeaderSession
}

// AddVia appends berth to the proxies that a message came through (RFC 9110, 7.6.3).
func AddVia(h wire.Header, major, minor int) {
	by := viaHTTP11
	if major != 1 || minor != 1 {
		by = HttpVersion(major, minor) + " berth"
	}
	h["Via"] = append(h["Via"], by)
}

// viaHTTP11 is what berth adds to Via of nearly all messages.
const viaHTTP11 = "1.1 berth"

func HttpVersion(major, minor int) string {
	return strconv.Itoa(major) + "." + strconv.Itoa(minor)
}
