package proxy

import (
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
)

// serveResource answers with the document. A name without a path behind it is asked
// for by clients that know the origin only: it means the endpoint if there is no
// other.
func serveResource(c *inbound.Call, out *reply.Writer) error {
	path := c.HTTP.URL.Path
	named := path == c.Endpoint.Resource.Path || c.Endpoint.Owns(path)
	if !named && (path != inbound.ResourceName || !c.Settings.Alone(c.Endpoint, inbound.Hostname(c.HTTP.Host))) {
		return fault.NotFound
	}
	// Nothing in it is secret, and clients run in browsers too.
	out.ReadBy(wire.NewHeader("Access-Control-Allow-Origin", "*"))
	h := out.Header()
	if c.HTTP.Method == wire.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET")
		h.Set("Access-Control-Allow-Headers", "*")
		out.WriteHeader(wire.StatusNoContent)
		return nil
	}
	out.Respond(wire.StatusOK, c.Endpoint.Resource.Document)
	return nil
}
