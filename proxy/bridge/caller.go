package bridge

import (
	"crypto/sha256"
	"encoding/base64"

	"berth/internal/exchange"
	"berth/proxy/inbound"
)

// callerOf names whose request it is: by its principal, or where there is none by all that could be
// a credential, for only the upstream knows what is.
func callerOf(out *exchange.Request) string {
	who := out.Caller
	if who == "" {
		headers := inbound.DigestOf(out.Header, func(name string) bool {
			return inbound.IsOfOneRequest(name) || inbound.IsOfOneCall(name) || namesBerth(name)
		})
		who = inbound.Joined(string(headers[:]), out.URL.RawQuery)
	}
	sum := sha256.Sum256([]byte(inbound.Joined(out.Caller, who)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// about is what a call's states and cursors are good for: one caller, in one pool.
func (c *call) about() []string { return []string{c.f.u.Pool().Name(), c.who.Caller} }

// namesBerth reports whether a header says where a request had reached a berth: the next round may
// reach another one.
func namesBerth(name string) bool {
	return name == "X-Forwarded-Host" || name == "X-Forwarded-Proto" || name == "X-Forwarded-Port"
}
