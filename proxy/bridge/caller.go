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

// key names the shelf of the sessions that a call may be made in.
func (c *call) key() string {
	return c.keyOf(string(c.client.AsksClient()))
}

// keyOf is key for a client that declares this.
func (c *call) keyOf(declared string) string {
	if c.f.b.o.Isolation == ForAll {
		return declared
	}
	return c.caller + declared
}

// namesBerth reports whether a header says where a request had reached a berth: the next round may
// reach another one.
func namesBerth(name string) bool {
	return name == "X-Forwarded-Host" || name == "X-Forwarded-Proto" || name == "X-Forwarded-Port"
}
