package inbound

import (
	"net/netip"
	"slices"
)

// Settings is what all requests are judged by. Its fields must not change once the proxy serves.
type Settings struct {
	Endpoints         []*Endpoint // where several fit a request equally well, the first gets it
	Loopback          bool        // the listener is on loopback: only loopback hosts and origins are welcome
	TrustedProxies    []netip.Prefix
	CredentialHeaders []string // the headers that are credentials, beside Cookie, as meant spells them
	Limits            Limits   // with their defaults
	LongestTaskID     int      // in bytes

	callers callerNames // of callers without principals
}

// trusts reports whether addr is that of a proxy whose headers about others are believed.
func (s *Settings) trusts(addr netip.Addr) bool {
	if len(s.TrustedProxies) == 0 {
		return false
	}
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(s.TrustedProxies, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// endpointFor returns the endpoint that a request belongs to: of those that fit
// best the first, or nil.
func (s *Settings) endpointFor(host, path string) *Endpoint {
	var best *Endpoint
	most := 0
	for _, ep := range s.Endpoints {
		if fit := ep.fit(host, path); fit > most {
			best, most = ep, fit
		}
	}
	return best
}

func (s *Settings) knowsHost(host string) bool {
	return slices.ContainsFunc(s.Endpoints, func(ep *Endpoint) bool { return ep.named(host) })
}

// Alone reports whether no other endpoint answers for the host as well.
func (s *Settings) Alone(ep *Endpoint, host string) bool {
	most := ep.fit(host, ResourceName)
	for _, other := range s.Endpoints {
		if other != ep && other.fit(host, ResourceName) >= most {
			return false
		}
	}
	return true
}
