package wire

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// HostName is a host, without brackets and port, in one of the ways to write it: an IPv6 address as browsers do. Anything else is
// left as it is.
func HostName(host string) string {
	if !strings.Contains(host, ":") {
		return host
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return host
	case address.Is4In6() && address.Zone() == "":
		const mapped = 12 // where its IPv4 address begins
		b := address.As16()
		return fmt.Sprintf("::ffff:%x:%x", binary.BigEndian.Uint16(b[mapped:]), binary.BigEndian.Uint16(b[mapped+2:]))
	}
	return address.String()
}
