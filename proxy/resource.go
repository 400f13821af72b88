package proxy

import (
	"strings"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// resourceName is the well-known name of a document about a protected resource
// (RFC 9728, 3).
const resourceName = wellKnown + "oauth-protected-resource"

// Resource is what clients without a token are told of an endpoint. It must not
// change once the proxy serves.
type Resource struct {
	// Path is where the document is found: resourceName with the path of the
	// resource's URL behind it, which may differ from the endpoint's where a proxy in
	// front changes paths.
	Path string
	// Document is the JSON of its metadata (RFC 9728, 3.2).
	Document []byte
}

// asksForResource reports whether the request is for such a document where berth
// itself authorises, so that no upstream's may say otherwise.
func (x *request) asksForResource() bool {
	path := x.r.URL.Path
	return x.endpoint.Resource != nil && isWellKnown(path) &&
		(path == resourceName || strings.HasPrefix(path, resourceName+"/"))
}

// serveResource answers with the document. A name without a path behind it is asked
// for by clients that know the origin only: it means the endpoint if there is no
// other.
func (x *request) serveResource() error {
	path := x.r.URL.Path
	named := path == x.endpoint.Resource.Path || x.endpoint.isSubject(path)
	if !named && (path != resourceName || !x.p.alone(x.endpoint, hostname(x.r.Host))) {
		return fault.NotFound
	}
	// Nothing in it is secret, and clients run in browsers too.
	x.readBy(wire.Header{"Access-Control-Allow-Origin": {"*"}})
	h := x.w.Header()
	if x.r.Method == wire.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET")
		h.Set("Access-Control-Allow-Headers", "*")
		x.writeHeader(wire.StatusNoContent)
		return nil
	}
	x.respond(wire.StatusOK, x.endpoint.Resource.Document)
	return nil
}

// alone reports whether no other endpoint answers for the host as well.
func (p *Proxy) alone(ep *Endpoint, host string) bool {
	most := ep.fit(host, resourceName)
	for _, other := range p.options.Endpoints {
		if other != ep && other.fit(host, resourceName) >= most {
			return false
		}
	}
	return true
}
