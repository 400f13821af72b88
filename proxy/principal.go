package proxy

import (
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// trusted reports whether the peer that connected is one whose headers about
// others are believed.
func (p *Proxy) trusted(remote string) bool {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	return p.trustsAddress(peer.Addr())
}

func (p *Proxy) trustsAddress(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p.options.TrustedProxies, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// Identifier tells who is calling. It is asked by many requests at once.
type Identifier interface {
	// Identify returns the principal of a request, before its body is read; "" is
	// nobody. trusted says whether the peer's headers about others are believed. An
	// error refuses the request: an *mcp.Error in its own words, any other as a fault
	// of berth's.
	Identify(r *wire.Request, trusted bool) (principal string, err error)
	// Header is the header by which a trusted peer names the principal, "" if there
	// is none. Nobody else's reaches an upstream.
	Header() string
}

// identify finds out who is calling. What may be asked before a client is
// authorised, discovery documents and CORS preflights, nobody asks.
func (x *request) identify() (err error) {
	if x.endpoint.Identifier == nil || x.beforeAuthorization() {
		return nil
	}
	x.principal, err = x.endpoint.Identifier.Identify(x.r, x.trusted)
	return err
}

// principalHeader is the header that names the principal, "" if there is none.
func (ep *Endpoint) principalHeader() string {
	if ep.Identifier == nil {
		return ""
	}
	return ep.Identifier.Header()
}

// credentialOf returns a digest of what the caller may authenticate with: the query, and
// all headers but those of one request or one call, for only the upstream knows which of
// the others are credentials. It is compared, never stored elsewhere nor logged.
func credentialOf(r *wire.Request) string {
	sum := digestOf(r.Header, func(name string) bool { return isOfOneRequest(name) || isOfOneCall(name) })
	if r.URL.RawQuery != "" {
		sum = sha256.Sum256([]byte(joined(string(sum[:]), r.URL.RawQuery)))
	}
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// digestOf is equal for headers that are equal byte by byte, but for the names that are
// left out.
func digestOf(h wire.Header, without func(name string) bool) [sha256.Size]byte {
	var names [usualHeaders]string
	all := make([]byte, 0, 1<<10)
	for _, name := range sortedNames(names[:0], h, without) {
		for _, value := range h[name] {
			all = append(append(append(append(all, name...), 0), value...), 0) // neither holds a NUL
		}
	}
	return sha256.Sum256(all)
}

// usualHeaders are as many names as most requests have: room for them costs no allocation.
const usualHeaders = 32

// sortedNames appends the names of h in order, but for those that are left out.
func sortedNames(names []string, h wire.Header, without func(name string) bool) []string {
	for name := range h {
		if !without(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isOfOneCall: headers that tell what one call is and how its answer is to come.
func isOfOneCall(name string) bool {
	switch name {
	case "Accept", "Content-Type", headerOnce, mcp.HeaderLastEvent,
		mcp.HeaderVersion, mcp.HeaderSession, mcp.HeaderMethod, mcp.HeaderName:
		return true
	}
	return strings.HasPrefix(name, mcp.HeaderParamPrefix)
}

// digest names a secret without telling it.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
