package config

import "strings"

// The values of [Auth.Principal] and [Auth.Recover].
const (
	// PrincipalNone takes every caller for nobody.
	PrincipalNone = "none"
	// PrincipalHeader is the prefix of "header:NAME".
	PrincipalHeader = "header:"
	// PrincipalCert takes the name in the client's certificate.
	PrincipalCert = "cert"
	// PrincipalJWT takes issuer and subject of an access token.
	PrincipalJWT = "jwt"
	// RecoverNever takes an id that the store does not know for unknown.
	RecoverNever = "never"
	// RecoverAsk asks the fleet for it.
	RecoverAsk = "ask"
)

// Auth is the [auth] table.
type Auth struct {
	// Principal is "none"; "header:NAME" for a header that a trusted proxy sets after
	// it has verified the caller; "cert" for the name in the client's certificate, which
	// needs [TLS.ClientCA]; or "jwt" for an access token, see [JWT].
	Principal string `toml:"principal"`
	// Recover says, where principals are known, whether the fleet is asked for an id
	// that the store does not know. With "ask" one that nobody is known to own
	// belongs to whoever asks first, hence "never" by default. Without principals
	// berth always asks.
	Recover string `toml:"recover"`
	// CredentialHeaders are headers that callers authenticate with, beside those that are
	// known to be. They count where a caller has no principal.
	CredentialHeaders []string `toml:"credential_headers"`
	// JWT says which access tokens are accepted.
	JWT JWT `toml:"jwt"`
}

// Principals reports whether callers are told apart.
func (a Auth) Principals() bool { return a.Principal != PrincipalNone }

// Header returns the name of the header that carries the principal, and whether
// there is one; "" if there is none.
func (a Auth) Header() (name string, ok bool) {
	if name, ok = strings.CutPrefix(a.Principal, PrincipalHeader); !ok {
		return "", false
	}
	return name, true
}
