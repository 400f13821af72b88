package config

import "strings"

// The values of [Auth.Principal] and [Auth.Recover].
const (
	// PrincipalNone takes every caller for nobody.
	PrincipalNone = "none"
	// PrincipalHeader is the prefix of "header:NAME".
	PrincipalHeader = "header:"
	// RecoverNever answers a binding that the store lost as unknown.
	RecoverNever = "never"
	// RecoverAsk asks the fleet for it.
	RecoverAsk = "ask"
)

// Auth is the [auth] table.
type Auth struct {
	// Principal is "none", or "header:NAME" for a header that a trusted proxy
	// sets after it has verified the caller.
	Principal string `toml:"principal"`
	// Recover says, where principals are known, whether a binding that the store
	// lost may be learned again by asking the fleet. With "ask" whoever asks first
	// becomes the owner, hence "never" by default. Without principals berth
	// always asks.
	Recover string `toml:"recover"`
}

// Header returns the name of the header that carries the principal, and whether
// there is one; "" if there is none.
func (a Auth) Header() (name string, ok bool) {
	if name, ok = strings.CutPrefix(a.Principal, PrincipalHeader); !ok {
		return "", false
	}
	return name, true
}
