package inbound

import (
	"net"
	"net/netip"
	"strings"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// Hostname returns the host of a Host header without its port and brackets, an IPv6 address in one of the ways to write it.
func Hostname(host string) string {
	if strings.Contains(host, ":") { // else SplitHostPort makes an error of it
		if name, _, err := net.SplitHostPort(host); err == nil {
			return wire.HostName(name)
		}
	}
	return wire.HostName(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

func isLoopback(host string) bool {
	const domain = ".localhost"
	if host == domain[1:] || strings.EqualFold(host, domain[1:]) ||
		len(host) >= len(domain) && strings.EqualFold(host[len(host)-len(domain):], domain) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Guard refuses requests that a browser was tricked into sending, or that are
// meant for a forward proxy (2025-11-25 and 2026-07-28, "Security Warning").
func (x Arrival) Guard() error {
	t, r := x.Settings, x.HTTP
	peer := peerOf(r)
	x.From = peer
	if len(r.Header.Fields())+1 > t.Limits.Headers || connectionOptions(r.Header) > t.Limits.Headers { // Host does not stand among them
		return fault.TooManyHeaders
	}
	if x.Trusted = t.trusts(peer); x.Trusted {
		x.From = t.client(peer, r.Header)
	}
	host := Hostname(r.Host)
	x.Endpoint = t.endpointFor(host, r.URL.Path)
	if r.URL.IsAbs() && (x.Endpoint == nil || !x.Endpoint.named(host)) && !(t.Loopback && isLoopback(host)) {
		return fault.ForbiddenHost
	}
	if t.Loopback && !isLoopback(host) && !t.knowsHost(host) {
		return fault.ForbiddenHost
	}
	if x.Endpoint == nil {
		return fault.NotFound
	}
	if err := x.checkOrigin(); err != nil {
		return err
	}
	if namesCriticalHop(r.Header, x.Endpoint, t.CredentialHeaders) {
		return fault.CriticalHop
	}
	if x.BeforeAuthorization() {
		x.plan() // it is passed on unread
	}
	return nil
}
