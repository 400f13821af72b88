package subscribe

import (
	"crypto/sha256"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
)

// sharedKey is equal for those who may share a stream.
type sharedKey struct {
	ep                             *inbound.Endpoint
	upstream, filter               string
	principal, credential, version string
	host, query                    string
	header                         [sha256.Size]byte // of sharedHeader
}

func (g *leg) sharedKey(header *wire.Header) sharedKey {
	l := g.l
	return sharedKey{
		ep:        l.Endpoint,
		upstream:  g.upstream.Name,
		filter:    string(g.asked.Sorted().Encode()),
		principal: l.Principal, credential: l.Credential(), version: l.Version(),
		host: l.Endpoint.HostFor(g.upstream, l.HTTP.Host), query: l.HTTP.URL.RawQuery,
		header: inbound.DigestOf(header, func(string) bool { return false }),
	}
}

// sharedHeader is the header of the request for a shared stream: that of g's caller,
// less what tells of one call or of the way that it came. What is left is all that an
// upstream can tell callers by, whichever header they authenticate with.
func (g *leg) sharedHeader() *wire.Header {
	h := g.l.Headers()
	h.Drop(func(f wire.Field) bool { return inbound.IsOfOneRequest(f.Name) })
	outbound.DropCallsOwn(h)
	for _, name := range []string{mcp.HeaderName, mcp.HeaderSession, mcp.HeaderLastEvent} {
		h.Del(name)
	}
	if g.l.Endpoint.Authorization != nil {
		h.Del("Authorization") // berth's own may change, and is set anew for each request
	}
	outbound.PostJSON(h)
	h.Set("Accept-Encoding", "identity")
	outbound.AddVia(h, 1, 1)
	if g.l.Era() == mcp.EraModern {
		h.Set(mcp.HeaderVersion, g.l.Version())
		h.Set(mcp.HeaderMethod, mcp.MethodListen)
	}
	return h
}
