package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// JWT is the [auth.jwt] table: access tokens, and who gives them out. It counts with
// [PrincipalJWT] only.
type JWT struct {
	// Issuer is the iss of every token, byte by byte.
	Issuer string `toml:"issuer"`
	// Audience are the values of which a token's aud must have one. Empty: the
	// resource of the pool that is called.
	Audience []string `toml:"audience"`
	// JWKS is where the issuer's keys are: an https URL, an http URL on loopback, or
	// the path of a file, which is read when berth serves.
	JWKS string `toml:"jwks"`
	// Algorithms are the signature algorithms accepted; none but asymmetric ones are.
	Algorithms []string `toml:"algorithms"`
	// Types are the media types that a token's typ may name, with or without
	// "application/". Empty: any, also none at all.
	Types []string `toml:"types"`
	// Leeway is how far the issuer's clock may be off.
	Leeway Duration `toml:"leeway"`
	// Resource is the URL that clients know the MCP endpoint by. Without a path each
	// pool's own is appended.
	Resource string `toml:"resource"`
	// AuthorizationServers are the issuer URLs that clients are sent to for a token.
	// Empty: Issuer.
	AuthorizationServers []string `toml:"authorization_servers"`
	// Scopes are those that clients are told to ask for. They are not checked.
	Scopes []string `toml:"scopes"`
}

// jwtAlgorithms are the signature algorithms that may be listed (RFC 7518, 3.1;
// RFC 8037). Those with a shared key are not among them, nor is none.
var jwtAlgorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

func defaultJWT() JWT {
	return JWT{Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"}, Leeway: Duration(30 * time.Second)}
}

// JWKSIsURL tells a URL from a path.
func (j JWT) JWKSIsURL() bool { return strings.Contains(j.JWKS, "://") }

// ResourceOf returns the resource of a pool: the URL that clients know it by, without
// a slash at its end (2026-07-28, authorization, "Canonical Server URI").
func (j JWT) ResourceOf(p Pool) string {
	u, err := url.Parse(j.Resource)
	if err != nil || u.Path != "" && u.Path != "/" {
		return j.Resource
	}
	return strings.TrimSuffix(strings.TrimSuffix(j.Resource, "/")+p.Path, "/")
}

func (v *validator) jwt(c *Config) {
	j := c.Auth.JWT
	if c.Auth.Principal != PrincipalJWT {
		if j.Issuer != "" || j.JWKS != "" {
			v.fault("auth.principal", `must be "jwt" for auth.jwt to count, got %s`, quote(c.Auth.Principal))
		}
		return
	}
	if j.Issuer == "" {
		v.fault("auth.jwt.issuer", "is missing")
	}
	if len(j.AuthorizationServers) == 0 && j.Issuer != "" {
		v.url("auth.jwt.issuer", j.Issuer)
	}
	v.jwks(j)
	v.jwtLists(j)
	within(v, "auth.jwt.leeway", j.Leeway, 0, hour/12)
	v.url("auth.jwt.resource", j.Resource)
	if u, err := url.Parse(j.Resource); err == nil && len(u.Path) > 1 && len(c.Pools) > 1 {
		v.fault("auth.jwt.resource", "must have no path where there are several pools: each pool's own is appended")
	}
}

func (v *validator) jwks(j JWT) {
	const key = "auth.jwt.jwks"
	if j.JWKS == "" {
		v.fault(key, "is missing")
	}
	if !j.JWKSIsURL() {
		return
	}
	v.url(key, j.JWKS)
	if u, err := url.Parse(j.JWKS); err == nil && u.Scheme == "http" && !isLoopbackHost(u.Hostname()) {
		v.fault(key, "must be https off loopback: whoever can change the keys can make tokens")
	}
}

func (v *validator) jwtLists(j JWT) {
	for i, audience := range j.Audience {
		if audience == "" {
			v.fault(elementKey("auth.jwt.audience", i), "must not be empty")
		}
	}
	if len(j.Algorithms) == 0 {
		v.fault("auth.jwt.algorithms", "must list at least one")
	}
	for i, algorithm := range j.Algorithms {
		if !slices.Contains(jwtAlgorithms, algorithm) {
			v.fault(elementKey("auth.jwt.algorithms", i), "must be one of %s, got %s", strings.Join(jwtAlgorithms, ", "), quote(algorithm))
		}
	}
	for i, typ := range j.Types {
		if !isScope(typ) {
			v.fault(elementKey("auth.jwt.types", i), "must be visible ASCII without blanks, quotes and backslashes, and not empty")
		}
	}
	for i, server := range j.AuthorizationServers {
		v.url(elementKey("auth.jwt.authorization_servers", i), server)
	}
	for i, scope := range j.Scopes {
		if !isScope(scope) {
			v.fault(elementKey("auth.jwt.scopes", i), "must be visible ASCII without blanks, quotes and backslashes")
		}
	}
}

// isScope judges a scope token (RFC 6749, 3.3).
func isScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

func isLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
