package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a browser was tricked into sending, or that are
// meant for a forward proxy (2025-11-25 and 2026-07-28, "Security Warning").
func (x *request) guard() error {
	p, r := x.p, x.r
	if headerLines(r.Header) > p.limits.Headers {
		return errTooManyHeaders
	}
	host := hostname(r.Host)
	x.endpoint = p.endpointFor(host, r.URL.Path)
	if r.URL.IsAbs() && (x.endpoint == nil || !x.endpoint.named(host)) && !(p.options.Loopback && isLoopback(host)) {
		return errForbiddenHost
	}
	if p.options.Loopback && !isLoopback(host) && !p.knowsHost(host) {
		return errForbiddenHost
	}
	if x.endpoint == nil {
		return errNotFound
	}
	if !p.originAllowed(x.endpoint, r.Header.Values("Origin")) {
		return errForbiddenOrigin
	}
	if namesCriticalHop(r.Header, x.endpoint.principalHeader()) {
		return errCriticalHop
	}
	return nil
}

func headerLines(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

func (p *Proxy) knowsHost(host string) bool {
	return slices.ContainsFunc(p.options.Endpoints, func(ep *Endpoint) bool { return ep.named(host) })
}

// originAllowed: no Origin is no browser. On a loopback listener only pages from
// loopback may call, unless listed; elsewhere the list counts, if there is one.
func (p *Proxy) originAllowed(ep *Endpoint, origins []string) bool {
	for _, origin := range origins {
		switch {
		case slices.Contains(ep.Origins, origin):
		case !p.options.Loopback && len(ep.Origins) == 0:
		case p.options.Loopback && isLoopbackOrigin(origin):
		default:
			return false
		}
	}
	return true
}

func isLoopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname())
}

// hostname returns the host of a Host header without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
