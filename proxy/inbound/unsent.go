package inbound

import (
	"cmp"
	"crypto/sha256"
	"net/textproto"

	"berth/internal/exchange"
)

// HasUnsent reports whether upstreams may not get what tells who the caller is.
func (x *Call) HasUnsent() bool {
	return x.Principal == "" && (x.Endpoint.Authorization != nil || x.isCertified())
}

func (x *Call) isCertified() bool { return x.HTTP.TLS != nil && len(x.HTTP.TLS.VerifiedChains) > 0 }

// Unsent is what a caller without principal authenticates with that upstreams do not get: its certificate, and what stands in
// Authorization where the endpoint sends something else.
func (x *Call) Unsent() (u exchange.Unsent) {
	var all, named []string
	if x.Endpoint.Authorization != nil {
		u.Authorization = true
		for line := range x.HTTP.Header.Values("Authorization") {
			line = textproto.TrimString(line)
			canonical, _ := read(line)
			all, named = append(all, canonical), append(named, cmp.Or(subject(line), canonical))
		}
	}
	if x.isCertified() {
		key := sha256.Sum256(x.HTTP.TLS.PeerCertificates[0].RawSubjectPublicKeyInfo)
		all, named = append(all, string(key[:])), append(named, string(key[:]))
	}
	u.All, u.Named = digestOfSet(all), digestOfSet(named)
	return u
}
