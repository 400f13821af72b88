package proxy

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/netip"
	"slices"
)

// trusted reports whether the peer that connected is one whose headers about
// others are believed.
func (p *Proxy) trusted(remote string) bool {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	return p.trustsAddress(peer.Addr())
}

func (p *Proxy) trustsAddress(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p.options.TrustedProxies, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// principalOf returns who is calling: what the principal header says, if the
// peer is believed and names exactly one. Everybody else is nobody.
func (p *Proxy) principalOf(r *http.Request, trusted bool) string {
	if p.options.PrincipalHeader == "" || !trusted {
		return ""
	}
	values := r.Header.Values(p.options.PrincipalHeader)
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// credentialOf returns a digest of what the caller authenticates with. It is
// compared, never stored elsewhere nor logged.
func credentialOf(h http.Header) string {
	sum := sha256.New()
	for _, name := range []string{"Authorization", "Cookie"} {
		for _, value := range h.Values(name) {
			sum.Write([]byte(name + "\x00" + value + "\x00"))
		}
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// digest names a secret without telling it.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
