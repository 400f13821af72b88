package proxy

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// guard refuses requests that a browser was tricked into sending, or that are
// meant for a forward proxy (2025-11-25 and 2026-07-28, "Security Warning").
func (x *request) guard() error {
	p, r := x.p, x.r
	if headerLines(r.Header) > p.limits.Headers {
		return fault.TooManyHeaders
	}
	host := hostname(r.Host)
	x.endpoint = p.endpointFor(host, r.URL.Path)
	if r.URL.IsAbs() && (x.endpoint == nil || !x.endpoint.named(host)) && !(p.options.Loopback && isLoopback(host)) {
		return fault.ForbiddenHost
	}
	if p.options.Loopback && !isLoopback(host) && !p.knowsHost(host) {
		return fault.ForbiddenHost
	}
	if x.endpoint == nil {
		return fault.NotFound
	}
	if err := x.checkOrigin(); err != nil {
		return err
	}
	if namesCriticalHop(r.Header, x.endpoint.principalHeader()) {
		return fault.CriticalHop
	}
	return nil
}

func headerLines(h wire.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

func (p *Proxy) knowsHost(host string) bool {
	return slices.ContainsFunc(p.options.Endpoints, func(ep *Endpoint) bool { return ep.named(host) })
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
