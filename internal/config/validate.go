package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/storage"

	"golang.org/x/net/http/httpguts"
)

const (
	shortest = Duration(time.Millisecond)
	hour     = Duration(time.Hour)
	day      = 24 * hour
	year     = 365 * day
)

// validator gathers faults, so that one value's does not hide the next one's.
type validator struct{ faults []Fault }

// Validate returns everything wrong with the values of c, in no order that
// matters; nil if berth can start with them. The faults carry neither file nor
// line.
func (c *Config) Validate() []Fault {
	var v validator
	v.address("listen", c.Listen)
	within(&v, "drain", c.Drain, shortest, day)
	v.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	v.tls(c.TLS)
	v.admin(c)
	v.store(c.Store)
	v.auth(c)
	v.jwt(c)
	v.limits(c.Limits)
	if c.Telemetry.Traces != "" {
		v.url("telemetry.traces", c.Telemetry.Traces)
	}
	v.pools(c.Pools)
	v.upgrades(c)
	return v.faults
}

func (v *validator) fault(key, format string, args ...any) {
	v.faults = append(v.faults, Fault{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) oneOf(key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		v.fault(key, "must be one of %s, got %s", strings.Join(allowed, ", "), quote(got))
	}
}

// within takes the validator as a parameter because methods have no type parameters.
func within[T cmp.Ordered](v *validator, key string, got, low, high T) {
	if got < low || got > high {
		v.fault(key, "must be from %v to %v, got %v", low, high, got)
	}
}

func (v *validator) admin(c *Config) {
	a := c.Admin
	if a.Token != "" && a.TokenFile != "" {
		v.fault("admin.token_file", "must not be set together with admin.token")
	}
	if a.Token != "" && !validToken(string(a.Token)) {
		v.fault("admin.token", "must be 1 to 4096 visible ASCII characters without blanks")
	}
	if a.Listen == "" {
		return
	}
	if path, unix := strings.CutPrefix(a.Listen, "unix:"); unix {
		if path == "" {
			v.fault("admin.listen", `must name a path after "unix:"`)
		}
		return
	}
	v.address("admin.listen", a.Listen)
	if a.Listen == c.Listen && !strings.HasSuffix(a.Listen, ":0") {
		v.fault("admin.listen", "must differ from listen: health and metrics are not for clients")
	}
	if a.Token == "" && a.TokenFile == "" && !onLoopback(a.Listen) {
		v.fault("admin.listen", "needs admin.token or admin.token_file off loopback")
	}
}

func (v *validator) store(s Store) {
	url, _ := s.EffectiveURL("")
	if err := storage.CheckURL(string(url)); err != nil {
		v.fault("store.url", "%v", err)
	}
	if err := storage.CheckDurability(string(url), s.Durability); err != nil {
		v.fault("store.durability", "%v", err)
	}
	within(v, "store.near", s.Near, 1, 100_000_000)
	within(v, "store.max_ttl", s.MaxTTL, hour/60, year)
	within(v, "store.session_idle", s.SessionIdle, hour/60, year)
	within(v, "store.holder_lease", s.HolderLease, 500*shortest, hour/12)
	if s.SealKey != "" && s.SealKeyFile != "" {
		v.fault("store.seal_key_file", "must not be set together with store.seal_key")
	}
	if _, err := decodeSealKey(string(s.SealKey)); s.SealKey != "" && err != nil {
		v.fault("store.seal_key", "must be the base64 form of at least 32 random bytes (openssl rand -base64 32)")
	}
}

func (v *validator) auth(c *Config) {
	v.oneOf("auth.recover", c.Auth.Recover, RecoverNever, RecoverAsk)
	for i, name := range c.Auth.CredentialHeaders {
		switch key := elementKey("auth.credential_headers", i); {
		case !httpguts.ValidHeaderFieldName(name):
			v.fault(key, "must name a header, got %s", quote(name))
		case isReserved(name):
			v.fault(key, "must not be %s, which has a meaning of its own", quote(name))
		}
	}
	name, ok := c.Auth.Header()
	switch {
	case c.Auth.Principal == PrincipalNone, c.Auth.Principal == PrincipalJWT:
	case c.Auth.Principal == PrincipalCert:
		if c.TLS.ClientCA == "" {
			v.fault("tls.client_ca", `is missing: auth.principal is "cert"`)
		}
	case !ok:
		v.fault("auth.principal", `must be "none", "header:NAME", "cert" or "jwt", got %s`, quote(c.Auth.Principal))
	case !httpguts.ValidHeaderFieldName(name):
		v.fault("auth.principal", "must name a header, got %s", quote(name))
	case isReserved(name):
		v.fault("auth.principal", "must not be %s, which has a meaning of its own", quote(name))
	case len(c.TrustedProxies) == 0:
		v.fault("auth.principal", "is believed from trusted_proxies only, and there are none")
	}
}
