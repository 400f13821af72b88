package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// ErrForbidden says that an address is none of the public internet, and not allowed.
var ErrForbidden = errors.New("not an address of the public internet, and not in allow_private")

// special are the networks, beside those that netip knows, where no host of the public internet is
// (IANA's registries of special-purpose addresses).
var special = prefixes(
	"0.0.0.0/8",        // this host
	"100.64.0.0/10",    // shared by customers of one provider (RFC 6598); some clouds' metadata
	"168.63.129.16/32", // Azure's metadata, which takes an address of the public internet for itself
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"240.0.0.0/4",      // reserved, and broadcast
	"2001::/23",        // protocol assignments, Teredo among them
	"2001:db8::/32",    // documentation
	"3fff::/20",        // documentation
)

// global is where IPv6 has hosts of the public internet.
var global = netip.MustParsePrefix("2000::/3")

// embedded are the networks whose addresses stand for one of IPv4, which begins at this byte.
var embedded = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4 (RFC 3056)
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Guard says where messages may go. The zero value allows the public internet alone.
type Guard struct {
	Allow []netip.Prefix // beside that
}

// Check fails with ErrForbidden if no message may go to an address.
func (g Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap()
	if within(g.Allow, addr) || isPublic(addr) {
		return nil
	}
	return fmt.Errorf("%v: %w", addr, ErrForbidden)
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// isPublic reports whether addr, which is not mapped, is one of the public internet.
func isPublic(addr netip.Addr) bool {
	for _, network := range embedded {
		if network.Contains(addr) {
			inner, _ := netip.AddrFromSlice(addr.AsSlice()[network.at : network.at+4])
			return isPublic(inner)
		}
	}
	if addr.Is6() && (!global.Contains(addr) || addr.Zone() != "") {
		return false
	}
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !within(special, addr)
}
