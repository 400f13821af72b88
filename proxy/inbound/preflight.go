package inbound

import (
	"slices"
	"strings"

	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// IsPreflight reports whether a browser asks what a page, which was let in, may send to
// the MCP endpoint (Fetch, "CORS-preflight request").
func (x *Call) IsPreflight() bool {
	return x.HTTP.Method == wire.MethodOptions && x.Origin != "" && x.HTTP.Header.Get("Access-Control-Request-Method") != "" &&
		x.HTTP.URL.Path == x.Endpoint.Path
}

// Grantable are the headers that the page wants to send, less those that only a proxy in
// front may set. Mcp-Param-* and credentials have any name, so that no list would do.
func (x *Call) Grantable() []string {
	names := strings.FieldsFunc(x.HTTP.Header.Join("Access-Control-Request-Headers", ","), func(r rune) bool { return r == ',' })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !httpguts.ValidHeaderFieldName(name) || IsForwarding(wire.CanonicalName(name)) || strings.EqualFold(name, x.Endpoint.PrincipalHeader())
	})
}
