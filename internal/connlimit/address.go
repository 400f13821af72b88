package connlimit

import "net/netip"

// wide is how much of an IPv6 address tells callers apart: the rest is the caller's
// own to choose.
const wide = 64

// Address returns what stands for the caller behind an IP address: the address
// itself, or the /64 that an IPv6 address lies in.
func Address(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	prefix, err := addr.Prefix(wide)
	if err != nil {
		return "" // the zero Addr
	}
	return prefix.String()
}
