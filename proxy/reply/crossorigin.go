package reply

import (
	"maps"
	"slices"
	"strings"

	"berth/internal/wire"
)

// LetRead lets the page that calls, which was let in, read the answer, as long as that is
// berth's own. It is the origin and not "*" that is named: the next page may be another.
// What the browser adds by itself, cookies above all, may stand behind the question only
// of a page that the operator has named.
func (w *Writer) LetRead(origin string, named bool) {
	h := w.Client.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	h.Set("Vary", "Origin")
	if named {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
}

// exposedHeaders are those of an answer of berth's own that MCP clients read beside what
// every page may.
const exposedHeaders = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

// ReadBy has rule say who may read the answer, which is not berth's own then.
func (w *Writer) ReadBy(rule *wire.Header) {
	h := w.Client.Header()
	h.Drop(func(f wire.Field) bool { return saysWhoReads(f.Name) })
	for _, f := range rule.Fields() {
		h.Add(f.Name, f.Value)
	}
}

func saysWhoReads(name string) bool {
	return strings.HasPrefix(name, "Access-Control-") || name == "Vary"
}

// CrossOrigin returns what an upstream's answer says of the pages that may read it
// (CORS). Whatever berth makes of that answer for somebody else is under the same
// rule: without it no page could read it, and with a rule of berth's own pages could
// that the upstream keeps out.
func CrossOrigin(h *wire.Header) *wire.Header {
	rule := new(wire.Header)
	for _, f := range h.Fields() {
		if saysWhoReads(f.Name) {
			rule.Add(f.Name, f.Value)
		}
	}
	return rule
}

// SameRule reports whether two answers may be read by the same pages.
func SameRule(a, b *wire.Header) bool { return maps.EqualFunc(a.Lists(), b.Lists(), slices.Equal) }

// Grant answers a preflight where no upstream does: the page may send what clients send
// that are no pages, and these headers.
func (w *Writer) Grant(names []string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	if len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
	h.Set("Access-Control-Max-Age", "600")
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	w.WriteHeader(wire.StatusNoContent)
}
