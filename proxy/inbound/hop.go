package inbound

import (
	"net/textproto"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// hopByHop are the headers that concern one connection only (RFC 9110, 7.6.1),
// with the old ones that some clients still send.
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings",
}

// namesCriticalHop reports whether Connection lists a header whose removal would
// change what a call means.
func namesCriticalHop(h wire.Header, principalHeader string) bool {
	for _, name := range connectionNames(h) {
		if strings.HasPrefix(name, "Mcp-") || strings.EqualFold(name, principalHeader) {
			return true
		}
		switch name {
		case "Authorization", "Cookie", "Host", "Content-Length", "Content-Type", "Accept", "Origin", mcp.HeaderLastEvent:
			return true
		}
	}
	return false
}

func connectionNames(h wire.Header) []string {
	var names []string
	for _, value := range h.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			if name = textproto.TrimString(name); name != "" {
				names = append(names, textproto.CanonicalMIMEHeaderKey(name))
			}
		}
	}
	return names
}

func DropHopByHop(h wire.Header) {
	for _, name := range connectionNames(h) {
		h.Del(name)
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// IsForwarding reports whether a header is one by which a proxy tells of the one before it.
func IsForwarding(name string) bool {
	return strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via"
}

func Scheme(r *wire.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
