package site

import (
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/reload"
)

// readCerts reads certificates anew, where those of before are in use.
func (g *generation) readCerts() error {
	s := g.site
	if s.certs == nil || s.now.Load() == nil {
		return nil
	}
	use, err := s.certs.Read(certsOptions(g.cfg.TLS, s.Observers))
	if err == nil {
		g.then(use)
	}
	return err
}

func openCerts(cfg config.TLS, o Observers) (*certs.Certs, error) {
	if !cfg.Enabled() {
		return nil, nil
	}
	return certs.Open(certsOptions(cfg, o))
}

func certsOptions(cfg config.TLS, o Observers) certs.Options {
	options := certs.Options{
		Cert: cfg.Cert, Key: cfg.Key, ClientCA: cfg.ClientCA,
		Optional:   cfg.ClientAuth == config.ClientAuthOptional,
		HTTP2:      cfg.HTTP2,
		MinVersion: tlsVersions[cfg.MinVersion],
		Logger:     o.Log, Meter: o.Meter,
	}
	return options
}

// OpenAdminCerts opens what operators are shown. It is not measured: those series are of clients.
func OpenAdminCerts(cfg config.AdminTLS, o Observers) (*certs.Certs, error) {
	opened, err := certs.Open(certs.Options{Table: "admin.tls", Cert: cfg.Cert, Key: cfg.Key, ClientCA: cfg.ClientCA, Logger: o.Log})
	return opened, eachAt("admin.tls", "", err)
}

// judgeCerts judges those certificates of next that only a restart takes over, where now is in use. Without it
// that restart would be the first to read them, when no berth serves any more.
func judgeCerts(now, next config.Config) error {
	var ofClients, ofAdmin error
	if !now.TLS.Enabled() {
		_, ofClients = openCerts(next.TLS, Observers{})
	}
	if next.Admin.TLS.Cert != "" && next.Admin.TLS != now.Admin.TLS {
		_, ofAdmin = OpenAdminCerts(next.Admin.TLS, Observers{})
	}
	return reload.Join(eachAt("tls", "", ofClients), ofAdmin)
}
