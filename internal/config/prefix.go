package config

import (
	"fmt"
	"net/netip"
)

// Prefix is a range of addresses, written as a CIDR ("10.0.0.0/8") or as one
// address.
type Prefix struct{ netip.Prefix }

// UnmarshalText refuses a CIDR whose address has bits beyond its length:
// "10.1.2.3/8" is more likely a slip than a wish for all of 10.0.0.0/8.
func (p *Prefix) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		p.Prefix = netip.PrefixFrom(addr, addr.BitLen())
		return nil
	}
	parsed, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf(`must be a CIDR or an IP address, such as "10.0.0.0/8", got %s`, quote(string(text)))
	}
	if parsed != parsed.Masked() {
		return fmt.Errorf("has bits set beyond its length, did you mean %q?", parsed.Masked())
	}
	p.Prefix = parsed
	return nil
}

func mustPrefix(s string) Prefix { return Prefix{netip.MustParsePrefix(s)} }
