package command

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/exchange"
)

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// trusts are what the upstreams of a pool are spoken to by over TLS.
type trusts struct {
	pool *certs.Trust
	own  map[string]*certs.Trust // by host and port: of upstreams with a table of their own
}

// openTrusts reads what the upstreams of a pool are spoken to by; nil if the configuration says
// nothing of it.
func openTrusts(cfg config.Pool, o observers) (*trusts, error) {
	var none config.ServerTLS
	t := &trusts{own: map[string]*certs.Trust{}}
	var err error
	if t.pool, err = openTrust("tls", cfg.TLS, o); err != nil {
		return nil, err
	}
	for i, u := range cfg.Upstreams {
		address := u.TLSAddress()
		if u.TLS == none || t.own[address] != nil {
			continue
		}
		if t.own[address], err = openTrust(fmt.Sprintf("upstreams[%d].tls", i), u.TLS.Over(cfg.TLS), o); err != nil {
			return nil, err
		}
	}
	if cfg.TLS == none && len(t.own) == 0 {
		return nil, nil
	}
	return t, nil
}

func openTrust(table string, cfg config.ServerTLS, o observers) (*certs.Trust, error) {
	return certs.OpenTrust(certs.TrustOptions{
		Table: table, What: "upstream_tls", CA: cfg.CA, Cert: cfg.Cert, Key: cfg.Key,
		ServerName: cfg.ServerName, MinVersion: tlsVersions[cfg.MinVersion], Logger: o.log, Meter: o.meter,
	})
}

// newClient returns what speaks HTTP to the upstreams of a pool.
func (g *graph) newClient(cfg config.Pool, o observers) (*exchange.Client, error) {
	connect := time.Duration(cfg.Timeouts.Connect)
	t, err := openTrusts(cfg, o)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return exchange.NewClient(connect), nil
	}
	if g.trusts == nil {
		g.trusts = map[string]*trusts{}
	}
	g.trusts[cfg.Name] = t
	for _, trust := range t.all() {
		g.runners = append(g.runners, trust.Run)
	}
	return exchange.NewSecureClient(connect, t.config), nil
}

// all are the pool's own, and those of upstreams.
func (t *trusts) all() []*certs.Trust {
	all := []*certs.Trust{t.pool}
	for _, own := range t.own {
		all = append(all, own)
	}
	return all
}

// config is for a connection to address, which is a host and port.
func (t *trusts) config(address string) *tls.Config {
	trust := t.own[strings.ToLower(address)]
	if trust == nil {
		trust = t.pool
	}
	host, _, _ := net.SplitHostPort(address)
	return trust.Config(host)
}

// fault is what is wrong with the files of any; "" if nothing is.
func (t *trusts) fault() string {
	for _, trust := range t.all() {
		if fault := trust.Fault(); fault != "" {
			return fault
		}
	}
	return ""
}

// look is what check --online finds in the files of the pool at key.
func (t *trusts) look(key string) (found []finding) {
	for _, trust := range t.all() {
		switch fault, overdue := trust.Fault(), trust.Overdue(); {
		case fault != "":
			found = append(found, finding{key: key, text: fault})
		case overdue != "":
			found = append(found, finding{key: key, text: overdue, warning: true})
		}
	}
	return found
}

// tlsChecks: berth goes on with what it read before, so nothing here makes it useless.
func (g *graph) tlsChecks() (checks []admin.Check) {
	if g.certs != nil {
		checks = append(checks, admin.Check{Name: "tls", Probe: func() (bool, string) { return true, g.certs.Fault() }})
	}
	for pool, t := range g.trusts {
		checks = append(checks, admin.Check{Name: "tls of pool " + pool, Probe: func() (bool, string) { return true, t.fault() }})
	}
	return checks
}
