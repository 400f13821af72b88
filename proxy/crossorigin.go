package proxy

import (
	"maps"
	"slices"
	"strings"

	"berth/internal/wire"
)

// exposedHeaders are those of an answer of berth's own that MCP clients read beside what
// every page may.
const exposedHeaders = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

// letRead lets the page that calls, which was let in, read the answer, as long as that is
// berth's own. It is the origin and not "*" that is named: the next page may be another.
// What the browser adds by itself, cookies above all, may stand behind the question only
// of a page that the operator has named.
func (x *request) letRead() {
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", x.Origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	h.Set("Vary", "Origin")
	if x.Endpoint.Lists(x.Origin) {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
}

// readBy has rule say who may read the answer, which is not berth's own then.
func (x *request) readBy(rule wire.Header) {
	h := x.w.Header()
	maps.DeleteFunc(h, func(name string, _ []string) bool { return saysWhoReads(name) })
	maps.Copy(h, rule)
}

func saysWhoReads(name string) bool {
	return strings.HasPrefix(name, "Access-Control-") || name == "Vary"
}

// crossOrigin returns what an upstream's answer says of the pages that may read it
// (CORS). Whatever berth makes of that answer for somebody else is under the same
// rule: without it no page could read it, and with a rule of berth's own pages could
// that the upstream keeps out.
func crossOrigin(h wire.Header) wire.Header {
	rule := wire.Header{}
	for name, values := range h {
		if saysWhoReads(name) {
			rule[name] = slices.Clone(values)
		}
	}
	return rule
}

// sameRule reports whether two answers may be read by the same pages.
func sameRule(a, b wire.Header) bool { return maps.EqualFunc(a, b, slices.Equal) }

// ruledBy notes which pages one of the upstreams lets read its list. Where they differ
// none may read the whole. A list of berth's own tasks alone is ruled by none.
func (l *listing) ruledBy(rule wire.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ruled && !sameRule(l.rule, rule) {
		rule = nil
	}
	l.ruled, l.rule = true, rule
}
