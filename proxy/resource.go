package proxy

import (
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// serveResource answers with the document. A name without a path behind it is asked
// for by clients that know the origin only: it means the endpoint if there is no
// other.
func (x *request) serveResource() error {
	path := x.HTTP.URL.Path
	named := path == x.Endpoint.Resource.Path || x.Endpoint.IsSubject(path)
	if !named && (path != inbound.ResourceName || !x.Table.Alone(x.Endpoint, inbound.Hostname(x.HTTP.Host))) {
		return fault.NotFound
	}
	// Nothing in it is secret, and clients run in browsers too.
	x.out.ReadBy(wire.Header{"Access-Control-Allow-Origin": {"*"}})
	h := x.out.Header()
	if x.HTTP.Method == wire.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET")
		h.Set("Access-Control-Allow-Headers", "*")
		x.out.WriteHeader(wire.StatusNoContent)
		return nil
	}
	x.out.Respond(wire.StatusOK, x.Endpoint.Resource.Document)
	return nil
}
