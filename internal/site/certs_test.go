package site

import (
	"log/slog"
	"path/filepath"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/config"
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
		if _, err := g.site.Follow(t.Context(), next); err == nil || KeyOf(err) != c.fault {
			t.Errorf("%s: %v, want a fault of %s", name, err, c.fault)
		}
	}
	if err := judgeCerts(now, config.Config{TLS: config.TLS{Cert: cert, Key: key}, Admin: config.Admin{TLS: config.AdminTLS{Cert: cert, Key: key}}}); err != nil {
		t.Errorf("good ones: %v", err)
	}
}
