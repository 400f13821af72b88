package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The values of [Auth.Principal] and [Auth.Recover].
const (
	PrincipalNone   = "none"
	PrincipalHeader = "header:" // begins "header:NAME"
	PrincipalCert   = "cert"
	PrincipalJWT    = "jwt"

	RecoverAsk = "ask"
)

// Auth is the [auth] table.
type Auth struct {
	Principal         string   `toml:"principal" default:"none"`
	Recover           string   `toml:"recover" default:"never" oneof:"never ask"`
	CredentialHeaders []string `toml:"credential_headers"`
	JWT               JWT      `toml:"jwt"`
}

// Principals reports whether callers are told apart.
func (a Auth) Principals() bool { return a.Principal != PrincipalNone }

// Header returns the name of the header that carries the principal, if one does.
func (a Auth) Header() (name string, ok bool) {
	if name, ok = strings.CutPrefix(a.Principal, PrincipalHeader); !ok {
		return "", false
	}
	return name, true
}

// JWT is the [auth.jwt] table, which counts with [PrincipalJWT] only.
type JWT struct {
	Issuer               string   `toml:"issuer"`
	Audience             []string `toml:"audience"`
	JWKS                 string   `toml:"jwks"`
	Algorithms           []string `toml:"algorithms" default:"RS256 PS256 ES256 EdDSA"`
	Types                []string `toml:"types"`
	Leeway               Duration `toml:"leeway" default:"30s"`
	Resource             string   `toml:"resource"`
	AuthorizationServers []string `toml:"authorization_servers"`
	Scopes               []string `toml:"scopes"`
}

// jwtAlgorithms may be listed (RFC 7518, 3.1; RFC 8037): none with a shared key.
var jwtAlgorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// JWKSIsURL tells a URL from a path.
func (j JWT) JWKSIsURL() bool { return strings.Contains(j.JWKS, "://") }

// ResourceOf returns the URL that clients know one of these pools by (2026-07-28, authorization, "Canonical
// Server URI"): at its host, where it has one and others have its path.
func (j JWT) ResourceOf(p Pool, pools []Pool) string {
	u, err := url.Parse(j.Resource)
	if err != nil || u.Path != "" && u.Path != "/" {
		return j.Resource
	}
	base := strings.TrimSuffix(j.Resource, "/")
	if len(p.Hosts) == 1 && slices.ContainsFunc(pools, func(other Pool) bool { return other.Path == p.Path && !slices.Equal(other.Hosts, p.Hosts) }) {
		base = u.Scheme + "://" + atPort(p.EffectiveHosts()[0], u.Port())
	}
	return strings.TrimSuffix(base+p.Path, "/")
}

// atPort is a host as URLs name it, at a port; "" is the scheme's.
func atPort(host, port string) string {
	if address, err := netip.ParseAddr(host); err == nil && address.Is6() {
		host = "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

func (v *validator) auth(c *Config) {
	for i, name := range c.Auth.CredentialHeaders {
		v.header(elementKey("auth.credential_headers", i), name)
	}
	name, ok := c.Auth.Header()
	switch {
	case c.Auth.Principal == PrincipalNone, c.Auth.Principal == PrincipalJWT:
	case c.Auth.Principal == PrincipalCert:
		v.faultIf(c.TLS.ClientCA == "", "tls.client_ca", `is missing: auth.principal is "cert"`)
	case !ok:
		v.fault("auth.principal", `must be "none", "header:NAME", "cert" or "jwt", got %s`, quote(c.Auth.Principal))
	case v.header("auth.principal", name) && len(c.TrustedProxies) == 0:
		v.fault("auth.principal", "is believed from trusted_proxies only, and there are none")
	}
}

// header judges the name of a header that operators give a meaning to.
func (v *validator) header(key, name string) bool {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		v.fault(key, "must name a header, got %s", quote(name))
	case isReserved(name):
		v.fault(key, "must not be %s, which has a meaning of its own", quote(name))
	default:
		return true
	}
	return false
}

// reservedHeaders have a meaning of their own, so that no operator can give them another. A name
// that ends in a dash stands for all that begin with it.
var reservedHeaders = []string{
	"accept", "accept-", "authorization", "baggage", "cache-control", "connection", "content-", "cookie", "date",
	"expect", "forwarded", "host", "idempotency-key", "keep-alive", "last-event-id", "mcp-", "origin", "proxy-",
	"range", "referer", "sec-", "set-cookie", "te", "traceparent", "tracestate", "trailer", "transfer-encoding",
	"upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto",
}

func isReserved(header string) bool {
	name := strings.ToLower(header)
	return slices.ContainsFunc(reservedHeaders, func(r string) bool {
		return name == r || strings.HasSuffix(r, "-") && strings.HasPrefix(name, r)
	})
}

func (v *validator) jwt(c *Config) {
	j := c.Auth.JWT
	if c.Auth.Principal != PrincipalJWT {
		v.faultIf(j.Issuer != "" || j.JWKS != "", "auth.principal", `must be "jwt" for auth.jwt to count, got %s`, quote(c.Auth.Principal))
		return
	}
	if j.Issuer == "" {
		v.fault("auth.jwt.issuer", "is missing")
	} else if len(j.AuthorizationServers) == 0 {
		v.url("auth.jwt.issuer", j.Issuer)
	}
	v.jwks(j)
	v.jwtLists(j)
	if most := hour / 12; j.Leeway > most {
		v.fault("auth.jwt.leeway", "must be from 0s to %v, got %v", most, j.Leeway)
	}
	v.url("auth.jwt.resource", j.Resource)
	if u, err := url.Parse(j.Resource); err == nil && len(u.Path) > 1 && len(c.Pools) > 1 {
		v.fault("auth.jwt.resource", "must have no path where there are several pools: each pool's own is appended")
	} else if len(j.Audience) == 0 {
		v.resources(j, c.Pools)
	}
}

// resources demands that each pool is another resource: a token for one is no token for another.
func (v *validator) resources(j JWT, pools []Pool) {
	taken := map[string]string{}
	for _, p := range pools {
		resource := j.ResourceOf(p, pools)
		if other, ok := taken[resource]; ok {
			v.fault("auth.jwt.resource", "is the same of pools %s and %s, which have one path: give each its own, or one of hosts", other, p.Name)
		}
		taken[resource] = p.Name
	}
}

func (v *validator) jwks(j JWT) {
	const key = "auth.jwt.jwks"
	v.faultIf(j.JWKS == "", key, "is missing")
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
		v.faultIf(audience == "", elementKey("auth.jwt.audience", i), "must not be empty")
	}
	v.faultIf(len(j.Algorithms) == 0, "auth.jwt.algorithms", "must list at least one")
	for i, algorithm := range j.Algorithms {
		v.oneOf(elementKey("auth.jwt.algorithms", i), algorithm, jwtAlgorithms...)
	}
	for i, typ := range j.Types {
		v.faultIf(!isScope(typ), elementKey("auth.jwt.types", i), "must be visible ASCII without blanks, quotes and backslashes, and not empty")
	}
	for i, server := range j.AuthorizationServers {
		v.url(elementKey("auth.jwt.authorization_servers", i), server)
	}
	for i, scope := range j.Scopes {
		v.faultIf(!isScope(scope), elementKey("auth.jwt.scopes", i), "must be visible ASCII without blanks, quotes and backslashes")
	}
}

// isScope judges a scope token (RFC 6749, 3.3).
func isScope(s string) bool { return isVisible(s) && !strings.ContainsAny(s, `"\`) }
