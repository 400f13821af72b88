package inbound

import (
	"net/textproto"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// IsHopByHop reports whether a header concerns one connection only (RFC 9110, 7.6.1). Some are
// old ones that some clients still send.
func IsHopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings":
		return true
	}
	return false
}

// namesCriticalHop reports whether Connection lists a header whose removal would
// change what a call means, or whose it is: what a proxy in front says of its client, that client must not take away. counted
// are more headers that are credentials.
func namesCriticalHop(h *wire.Header, at *Endpoint, counted []string) bool {
	for _, name := range ConnectionNames(h) {
		meant := meantBy(name)
		if strings.HasPrefix(name, "Mcp-") || strings.EqualFold(name, at.PrincipalHeader()) ||
			IsForwarding(meant) || strings.HasPrefix(meant, oauthProxys) || slices.Contains(namingHeaders, meant) ||
			isCredential(meant) || slices.Contains(counted, meant) {
			return true
		}
		switch name {
		case "Authorization", "Cookie", "Host", "Content-Length", "Content-Type", "Accept", "Origin", mcp.HeaderLastEvent:
			return true
		}
	}
	return false
}

// oauthProxys begins the names of headers in which authenticating proxies tell of a user.
const oauthProxys = "X-Auth-Request-"

// connectionOptions is how many options Connection has, empty ones included. Each is compared with all headers.
func connectionOptions(h *wire.Header) (n int) {
	for value := range h.Values("Connection") {
		n += strings.Count(value, ",") + 1
	}
	return n
}

// ConnectionNames are the headers, in canonical form, that Connection lists.
func ConnectionNames(h *wire.Header) []string {
	var names []string
	for value := range h.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			if name = textproto.TrimString(name); name != "" {
				names = append(names, textproto.CanonicalMIMEHeaderKey(name))
			}
		}
	}
	return names
}

// CopyEndToEnd has h say what other says, but for what concerns one connection only, with the names that Connection lists.
func CopyEndToEnd(h, other *wire.Header) {
	listed := ConnectionNames(other)
	isHop := func(name string) bool { return IsHopByHop(name) || slices.Contains(listed, name) }
	h.Drop(func(f wire.Field) bool { return isHop(f.Name) || other.Settles(f.Name) })
	h.Grow(len(other.Fields()) + added)
	for _, f := range other.Fields() {
		if !isHop(f.Name) {
			h.Append(f)
		}
	}
	for _, name := range other.Withheld() {
		h.Withhold(name)
	}
}

// added is how many fields berth adds to an answer, at most as a rule.
const added = 4

// IsForwarding reports whether a header is one by which a proxy tells of the one before it.
func IsForwarding(name string) bool {
	return strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via"
}

// Scheme is that of the connection that a request came by.
func Scheme(r *wire.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
