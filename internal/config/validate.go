package config

import (
	"cmp"
	"reflect"
	"strings"

	"berth/internal/auditlog"
	"berth/internal/storage"
)

// validator judges a configuration as a whole.
type validator struct{ findings }

// Validate returns everything wrong with the values of c, in no order, without files and lines.
func (c *Config) Validate() []Fault {
	var v validator
	v.bounds("", reflect.ValueOf(c).Elem())
	v.address("listen", c.Listen)
	v.faultIf(!auditlog.Known(c.Log.Audit), "log.audit", `must be "off", "stderr" or "file:PATH", got %s`, quote(c.Log.Audit))
	v.tls(c.TLS)
	v.faultIf(c.ProxyProtocol && len(c.TrustedProxies) == 0, "proxy_protocol", "is believed from trusted_proxies only, and there are none")
	v.admin(c)
	v.store(c.Store)
	v.auth(c)
	v.jwt(c)
	v.limits(c.Limits)
	v.rateLimits(c)
	if c.Telemetry.Traces != "" {
		v.url("telemetry.traces", c.Telemetry.Traces)
	}
	v.pools(c.Pools)
	v.upgrades(c)
	return v.faults
}

func (v *validator) tls(t TLS) {
	v.shown("tls", t.Cert, t.Key, t.ClientCA)
	v.faultIf(t.HTTP2 && t.Cert == "", "tls.http2", "needs tls.cert and tls.key: HTTP/2 is spoken over TLS only")
}

// shown judges what a table says of the certificate that berth shows.
func (v *validator) shown(table, cert, key, clientCA string) {
	switch {
	case cert == "" && key != "":
		v.fault(table+".cert", "is missing: %s.key is set", table)
	case cert != "" && key == "":
		v.fault(table+".key", "is missing: %s.cert is set", table)
	case cert == "" && clientCA != "":
		v.fault(table+".client_ca", "needs %s.cert and %s.key", table, table)
	}
}

func (v *validator) admin(c *Config) {
	a := c.Admin
	v.shown("admin.tls", a.TLS.Cert, a.TLS.Key, a.TLS.ClientCA)
	v.faultIf(a.TLS != AdminTLS{} && strings.HasPrefix(a.Listen, "unix:"), "admin.tls", "is of no use on a Unix socket")
	if a.Probes != "" {
		v.address("admin.probes", a.Probes)
		v.faultIf(!strings.HasSuffix(a.Probes, ":0") && (a.Probes == c.Listen || a.Probes == a.Listen), "admin.probes", "must differ from listen and admin.listen: it is a listener of its own")
	}
	v.faultIf(a.Token != "" && a.TokenFile != "", "admin.token_file", "must not be set together with admin.token")
	v.faultIf(a.Token != "" && !validToken(string(a.Token)), "admin.token", "must be 1 to 4096 visible ASCII characters without blanks")
	if a.Listen == "" {
		return
	}
	if path, unix := strings.CutPrefix(a.Listen, "unix:"); unix {
		v.faultIf(path == "" || path[0] == '@', "admin.listen", `must name a path after "unix:", of a file: its mode says who may open it`)
		return
	}
	v.address("admin.listen", a.Listen)
	if a.Listen == c.Listen && !strings.HasSuffix(a.Listen, ":0") {
		v.fault("admin.listen", "must differ from listen: health and metrics are not for clients")
	}
	v.faultIf(a.Token == "" && a.TokenFile == "" && !onLoopback(a.Listen), "admin.listen", "needs admin.token or admin.token_file off loopback")
}

const anyRedis = "rediss://localhost"

func (v *validator) store(s Store) {
	v.faultIf(s.URL != "" && s.URLFile != "", "store.url_file", "must not be set together with store.url")
	url := string(s.URL)
	if s.URLFile != "" {
		url = anyRedis // what the file holds is judged when it is read
	}
	url = cmp.Or(url, "memory:")
	if err := storage.CheckURL(url); err != nil {
		v.fault("store.url", "%v", err)
	}
	if err := storage.CheckDurability(url, s.Durability); err != nil {
		v.fault("store.durability", "%v", err)
	}
	v.serverTLS("store.tls", s.TLS)
	v.faultIf(s.TLS != ServerTLS{} && !strings.HasPrefix(url, "rediss"), "store.tls", "needs a rediss URL")
	v.faultIf(s.SealKey != "" && s.SealKeyFile != "", "store.seal_key_file", "must not be set together with store.seal_key")
	if _, err := decodeSealKey(string(s.SealKey)); s.SealKey != "" && err != nil {
		v.fault("store.seal_key", "must be the base64 form of at least 32 random bytes (openssl rand -base64 32)")
	}
}
