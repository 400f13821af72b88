package site

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/reload"
)

// Whether TLS is spoken takes a restart. A file that berth could not be started with is refused nevertheless: the
// restart would be the first to read what it names, and end all service.
func TestCertificatesForTheNextStartAreJudged(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		certstest.Write(t, path, content)
		return path
	}
	pair := certstest.New(t).Server("berth.test")
	cert, key := file("cert.pem", pair.Cert), file("key.pem", pair.Key)
	broken := file("broken.pem", []byte("no certificate"))

	var next config.Config
	now := config.Default()
	g := generationOf(now.Auth)
	g.cfg = now
	g.site.now.Store(g)
	g.site.Log = slog.New(slog.DiscardHandler)
	for name, c := range map[string]struct {
		tls   config.TLS
		admin config.AdminTLS
		fault string
	}{
		"a certificate that is not there": {tls: config.TLS{Cert: filepath.Join(dir, "none.pem"), Key: key}, fault: "tls.cert"},
		"no certificate":                  {tls: config.TLS{Cert: broken, Key: key}, fault: "tls.cert"},
		"no authority":                    {tls: config.TLS{Cert: cert, Key: key, ClientCA: broken}, fault: "tls.cert"},
		"operators' key is not there":     {admin: config.AdminTLS{Cert: cert, Key: filepath.Join(dir, "none.pem")}, fault: "admin.tls.key"},
	} {
		next = now
		next.TLS, next.Admin.TLS = c.tls, c.admin
		if _, err := followNow(t.Context(), g.site, next); len(reload.Each(err)) != 1 || KeyOf(reload.Each(err)[0]) != c.fault {
			t.Errorf("%s: %v, want a fault of %s", name, err, c.fault)
		}
	}
	next = now
	next.TLS = config.TLS{Cert: filepath.Join(dir, "none.pem"), Key: filepath.Join(dir, "none.key")}
	pool := config.DefaultPool()
	pool.Authorization, pool.AuthorizationValueFile = config.AuthorizationReplace, filepath.Join(dir, "none")
	pool.Upstreams = []config.Upstream{{Name: "a", URL: "http://127.0.0.1:1/mcp"}}
	next.Pools = []config.Pool{pool}
	var keys []string
	_, err := followNow(t.Context(), g.site, next)
	for _, one := range reload.Each(err) {
		keys = append(keys, KeyOf(one))
	}
	if got := strings.Join(keys, " "); got != "tls.cert tls.key pools[0].authorization_value_file" {
		t.Errorf("got faults of %s: %v", got, err)
	}
	if err := judgeCerts(now, config.Config{TLS: config.TLS{Cert: cert, Key: key}, Admin: config.Admin{TLS: config.AdminTLS{Cert: cert, Key: key}}}); err != nil {
		t.Errorf("good ones: %v", err)
	}
}

// A file that moves from a header to certificates needs a restart for TLS: until then nobody would be told from anybody by it.
func TestCallersAreNotToldApartByCertificatesBeforeThereIsTLS(t *testing.T) {
	now := config.Default()
	now.Auth.Principal = "header:X-User"
	g := generationOf(now.Auth)
	g.cfg = now
	g.site.now.Store(g)
	g.site.Log = slog.New(slog.DiscardHandler)
	dir, authority := t.TempDir(), certstest.New(t)
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		certstest.Write(t, path, content)
		return path
	}
	pair := authority.Server("berth.test")
	next := now
	next.Auth.Principal = config.PrincipalCert
	next.TLS = config.TLS{Cert: file("cert.pem", pair.Cert), Key: file("key.pem", pair.Key), ClientCA: file("ca.pem", authority.PEM())}
	_, err := followNow(t.Context(), g.site, next)
	if all := reload.Each(err); len(all) != 1 || KeyOf(all[0]) != "tls.client_ca" || !strings.Contains(all[0].Error(), "tls.cert") {
		t.Errorf("got %v, want a fault of tls.client_ca that names tls.cert", err)
	}
	if g.site.Config().Auth.Principal != now.Auth.Principal {
		t.Error("callers are told apart otherwise than before")
	}
}
