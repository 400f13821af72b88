package inbound

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// AnyOrigin stands alone in Endpoint.Origins, and lets the pages of every origin call, those
// of the opaque origin "null" among them.
const AnyOrigin = "*"

// originOf serialises an origin (RFC 6454, 6.2): the scheme's default port is left out.
func originOf(scheme, host string) string {
	port, known := map[string]string{"http": "80", "https": "443"}[scheme]
	if !known || host == "" {
		return ""
	}
	if _, given, err := net.SplitHostPort(host); err == nil && given == port {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host
}

// firstForwarded is what the first of the proxies in front says, "" for nothing.
func firstForwarded(h *wire.Header, name string) string {
	first, _, _ := strings.Cut(h.Get(name), ",")
	return strings.TrimSpace(first)
}

func isLoopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname())
}

// checkOrigin refuses a request that a page made which may not call here, and notes the
// origin of one that may. A request without Origin is no page's.
func (x Arrival) checkOrigin() error {
	for origin := range x.HTTP.Header.Values("Origin") {
		if !x.mayCall(origin) {
			return fault.ForbiddenOrigin
		}
	}
	if origin, n := x.HTTP.Header.First("Origin"); n == 1 {
		x.Origin = origin
	}
	return nil
}

// mayCall reports whether pages of this origin may call: of one that the endpoint lists,
// of the request's own, or, on a loopback listener, of loopback.
func (x Arrival) mayCall(origin string) bool {
	ep := x.Endpoint
	return ep.Lists(origin) || slices.Contains(ep.Origins, AnyOrigin) ||
		x.Settings.Loopback && isLoopbackOrigin(origin) || origin != "" && origin == x.ownOrigin()
}

// ownOrigin is the origin that the request was sent to, as a browser writes it; "" where
// it was sent to a host that the endpoint does not answer for. Behind a trusted proxy it
// is what that says it was sent to.
func (x Arrival) ownOrigin() string {
	proto, host := Scheme(x.HTTP), x.HTTP.Host
	if x.Trusted {
		proto = cmp.Or(firstForwarded(x.HTTP.Header, "X-Forwarded-Proto"), proto)
		host = cmp.Or(firstForwarded(x.HTTP.Header, "X-Forwarded-Host"), host)
	}
	if !x.answersFor(Hostname(host)) {
		return ""
	}
	return originOf(strings.ToLower(proto), strings.ToLower(host))
}

// answersFor keeps a name that was rebound to this address from being the request's own:
// a proxy in front passes it on like any other.
func (x Arrival) answersFor(host string) bool {
	if len(x.Endpoint.Hosts) > 0 || x.Settings.Loopback {
		return x.Endpoint.named(host)
	}
	return true
}
