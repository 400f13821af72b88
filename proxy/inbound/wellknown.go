package inbound

import (
	pathpkg "path"
	"strings"

	"berth/internal/wire"
)

// wellKnown is where OAuth clients look before they are authorised (RFC 8615).
const wellKnown = "/.well-known/"

// isWellKnown reports whether path lies under wellKnown, without detours: an
// upstream that resolves "..", as many do, must not be led elsewhere. Some read "..;" so, or "..\", or decode twice.
func isWellKnown(path string) bool {
	return strings.HasPrefix(path, wellKnown) && pathpkg.Clean(path) == path && !strings.ContainsAny(path, `;\%`)
}

// BeforeAuthorization reports whether the request lies beside the MCP endpoint, where
// clients look before they have a token: a discovery document or a CORS preflight.
func (x *Call) BeforeAuthorization() bool {
	return x.HTTP.Method == wire.MethodOptions || isWellKnown(x.HTTP.URL.Path)
}

// ResourceName is the well-known name of a document about a protected resource
// (RFC 9728, 3).
const ResourceName = wellKnown + "oauth-protected-resource"

// AsksForResource reports whether the request is for such a document where berth
// itself authorises, so that no upstream's may say otherwise.
func (x *Call) AsksForResource() bool {
	path := x.HTTP.URL.Path
	return x.Endpoint.Resource != nil && isWellKnown(path) &&
		(path == ResourceName || strings.HasPrefix(path, ResourceName+"/"))
}
