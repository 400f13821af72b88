package connlimit

import "net/netip"

// wide is how much of an IPv6 address tells callers apart: the rest is the caller's
// own to choose.
const wide = 64

// Address returns what stands for the caller behind an IP address: the address
// itself, or the /64 that an IPv6 address lies in; "" for the zero Addr.
func Address(addr netip.Addr) string { return string(AppendAddress(nil, addr)) }

// AppendAddress appends what Address returns.
func AppendAddress(to []byte, addr netip.Addr) []byte {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return addr.AppendTo(to)
	}
	prefix, _ := addr.Prefix(wide) // fails for longer ones than an address only
	return prefix.AppendTo(to)
}
