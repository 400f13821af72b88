package proxy

import (
	"slices"
	"strings"

	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// isPreflight reports whether a browser asks what a page, which was let in, may send to
// the MCP endpoint (Fetch, "CORS-preflight request").
func (x *request) isPreflight() bool {
	return x.r.Method == wire.MethodOptions && x.origin != "" && x.r.Header.Get("Access-Control-Request-Method") != "" &&
		x.r.URL.Path == x.endpoint.Path
}

// answersPreflight reports whether an upstream's answer to a preflight is one: it lets some
// page in, or it forbids, or it shows that it knows of such questions. Servers that do not
// have all sorts of answers.
func answersPreflight(response *wire.Response) bool {
	if response.Status == wire.StatusForbidden {
		return true
	}
	for name := range response.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			return true
		}
	}
	return false
}

// grant answers a preflight where no upstream does: the page may send what clients send
// that are no pages.
func (x *request) grant() {
	h := x.w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	if names := x.grantable(); len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
	h.Set("Access-Control-Max-Age", "600")
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	x.writeHeader(wire.StatusNoContent)
}

// grantable are the headers that the page wants to send, less those that only a proxy in
// front may set. Mcp-Param-* and credentials have any name, so that no list would do.
func (x *request) grantable() []string {
	names := strings.FieldsFunc(strings.Join(x.r.Header.Values("Access-Control-Request-Headers"), ","), func(r rune) bool { return r == ',' })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !httpguts.ValidHeaderFieldName(name) || isForwarding(wire.CanonicalName(name)) || strings.EqualFold(name, x.endpoint.principalHeader())
	})
}
