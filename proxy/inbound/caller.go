package inbound

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"berth/internal/connlimit"
	"berth/internal/seal"
	"berth/internal/wire"
)

// callerOf names who a request counts for: its principal, or else the address that
// it comes from. Callers behind one address are one caller.
func (s *Settings) callerOf(from netip.Addr, principal string) string {
	if principal != "" {
		return "principal " + seal.Digest(principal)
	}
	if !from.IsValid() {
		return "address" // all of a network without addresses
	}
	return s.callers.of(from)
}

// callerNames remembers the names of callers by their addresses, so that one who comes again costs no memory. It
// holds one for each place: whoever falls into another's takes it.
type callerNames [256]atomic.Pointer[callerName]

type callerName struct {
	from netip.Addr
	name string
}

func (n *callerNames) of(from netip.Addr) string {
	place := &n[placeOf(from.As16())]
	known := place.Load()
	if known == nil || known.from != from {
		known = &callerName{from, "address " + connlimit.Address(from)}
		place.Store(known)
	}
	return known.name
}

// placeOf differs between neighbours.
func placeOf(address [16]byte) uint8 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio
	network, host := binary.BigEndian.Uint64(address[:8]), binary.BigEndian.Uint64(address[8:])
	return uint8((network ^ host) * golden >> 56)
}

// peerOf returns the address of who connected; the zero one on a network without addresses.
func peerOf(r *wire.Request) netip.Addr {
	if r.Peer.IsValid() {
		return r.Peer
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr()
}

// PeerHost is the address of who connected as text, whatever the network.
func PeerHost(r *wire.Request) string {
	if r.Peer.Is4() { // so that RemoteAddr has one colon, near its end
		if colon := strings.LastIndexByte(r.RemoteAddr, ':'); colon >= 0 {
			return r.RemoteAddr[:colon]
		}
		return r.RemoteAddr
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// Address is From as text, "" for none. Nearly always that begins how the peer's address is given,
// and is no copy.
func (x *Call) Address() string {
	switch {
	case !x.From.IsValid():
		return ""
	case x.From.Is4() && x.From == x.HTTP.Peer:
		return PeerHost(x.HTTP)
	}
	var room [48]byte
	text, peer := x.From.AppendTo(room[:0]), x.HTTP.RemoteAddr
	if n := len(text); n <= len(peer) && peer[:n] == string(text) {
		return peer[:n]
	}
	return string(text)
}

// client returns the address that the proxies in front say the request comes from.
// Each appended the address of its own peer, so the entries are believed from the
// last on backwards, as long as they name trusted proxies: the first that does not is
// the client. Beyond one that is no address nobody can be believed.
func (s *Settings) client(peer netip.Addr, h *wire.Header) netip.Addr {
	if !h.Has("X-Forwarded-For") {
		return peer
	}
	for _, f := range slices.Backward(h.Fields()) {
		line := f.Value
		for more := f.Name == "X-Forwarded-For"; more; {
			var entry string
			line, entry, more = cutLast(line)
			addr, ok := parseForwarded(strings.TrimSpace(entry))
			if !ok {
				return peer
			}
			if peer = addr; !s.trusts(addr) {
				return peer
			}
		}
	}
	return peer
}

// cutLast cuts the last of a list with commas; more says that there are others before it.
func cutLast(list string) (before, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

// parseForwarded reads an entry of X-Forwarded-For. Some proxies add a port.
func parseForwarded(entry string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return addr, true
	}
	withPort, err := netip.ParseAddrPort(entry)
	return withPort.Addr(), err == nil
}

// Recognise tells who is calling: as whom, and what the request counts for.
func (x Arrival) Recognise() error {
	if err := x.identify(); err != nil {
		return err
	}
	x.Caller = x.Settings.callerOf(x.From, x.Principal)
	return nil
}

// RecogniseAs is Recognise of a request whose principal is known; "" is nobody.
func (x Arrival) RecogniseAs(principal string) {
	x.Principal = principal
	x.Caller = x.Settings.callerOf(x.From, principal)
}

// identify finds out who is calling. What may be asked before a client is
// authorised, discovery documents and CORS preflights, nobody asks.
func (x Arrival) identify() (err error) {
	if x.Endpoint.Identifier == nil || x.BeforeAuthorization() {
		return nil
	}
	x.Principal, err = x.Endpoint.Identifier.Identify(x.HTTP, x.Trusted)
	return err
}
