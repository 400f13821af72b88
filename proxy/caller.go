package proxy

import (
	"net/netip"
	"slices"
	"strings"

	"berth/internal/gate"
	"berth/internal/wire"
)

// recognise tells who is calling: as whom, what the request counts for, and what it is
// compared by.
func (x *request) recognise() error {
	if err := x.identify(); err != nil {
		return err
	}
	x.held.caller = x.p.callerOf(x.r, x.principal, x.trusted)
	x.credential = credentialOf(x.r)
	return nil
}

// callerOf names who a request counts for: its principal, or else the address that
// it comes from. Callers behind one address are one caller.
func (p *Proxy) callerOf(r *wire.Request, principal string, trusted bool) string {
	if principal != "" {
		return "principal " + digest(principal)
	}
	addr := p.addressOf(r, trusted)
	if !addr.IsValid() {
		return "address" // all of a network without addresses
	}
	return "address " + gate.Address(addr)
}

// addressOf returns the address that a request comes from; the zero one on a network
// without addresses.
func (p *Proxy) addressOf(r *wire.Request, trusted bool) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !trusted {
		return peer.Addr()
	}
	return p.client(peer.Addr(), r.Header.Values("X-Forwarded-For"))
}

// client returns the address that the proxies in front say the request comes from.
// Each appended the address of its own peer, so the entries are believed from the
// last on backwards, as long as they name trusted proxies: the first that does not is
// the client. Beyond one that is no address nobody can be believed.
func (p *Proxy) client(peer netip.Addr, forwarded []string) netip.Addr {
	for _, entry := range slices.Backward(strings.Split(strings.Join(forwarded, ","), ",")) {
		addr, ok := parseForwarded(strings.TrimSpace(entry))
		if !ok {
			return peer
		}
		if peer = addr; !p.trustsAddress(addr) {
			return peer
		}
	}
	return peer
}

// parseForwarded reads an entry of X-Forwarded-For. Some proxies add a port.
func parseForwarded(entry string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return addr, true
	}
	withPort, err := netip.ParseAddrPort(entry)
	return withPort.Addr(), err == nil
}
