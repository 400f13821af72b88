package site

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/h1/client"
	"berth/internal/parts"
)

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// trusts are what the upstreams of a pool are spoken to by over TLS.
type trusts struct {
	pool *certs.Trust
	own  map[string]*certs.Trust // by host and port: of upstreams with a table of their own
}

// newTrusts takes into use what the upstreams of a pool are spoken to by; nil if the configuration
// says nothing of it.
func (g *generation) newTrusts(cfg config.Pool) (t *trusts, err error) {
	var none config.ServerTLS
	t = &trusts{own: map[string]*certs.Trust{}}
	if t.pool, err = g.newTrust("tls", cfg.TLS); err != nil {
		return nil, err
	}
	for i, u := range cfg.Upstreams {
		address := u.TLSAddress()
		if u.TLS == none || t.own[address] != nil {
			continue
		}
		if t.own[address], err = g.newTrust(fmt.Sprintf("upstreams[%d].tls", i), u.TLS.Over(cfg.TLS)); err != nil {
			return nil, err
		}
	}
	if cfg.TLS == none && len(t.own) == 0 {
		return nil, nil
	}
	return t, nil
}

// newTrust takes into use what a table says; table names it in errors.
func (g *generation) newTrust(table string, cfg config.ServerTLS) (*certs.Trust, error) {
	return share(g, fmt.Sprintf("trust %s %q", table, cfg), func() (*certs.Trust, parts.Life, error) {
		trust, err := openTrust(table, "upstream_tls", cfg, g.site.Observers)
		if err != nil {
			return nil, parts.Life{}, err
		}
		return trust, parts.Life{Run: trust.Run}, nil
	})
}

func openTrust(table, what string, cfg config.ServerTLS, o Observers) (*certs.Trust, error) {
	return certs.OpenTrust(certs.TrustOptions{
		Table: table, What: what, CA: cfg.CA, Cert: cfg.Cert, Key: cfg.Key,
		ServerName: cfg.ServerName, MinVersion: tlsVersions[cfg.MinVersion], Logger: o.Log, Meter: o.Meter,
	})
}

// newClient takes into use what keeps connections to the upstreams of a pool. What speaks TLS
// otherwise than before is another client.
func (g *generation) newClient(cfg config.Pool) (exchange.Sender, error) {
	connect := time.Duration(cfg.Timeouts.Connect)
	t, err := g.newTrusts(cfg)
	if err != nil {
		return nil, err
	}
	if t != nil {
		if g.trusts == nil {
			g.trusts = map[string]*trusts{}
		}
		g.trusts[cfg.Name] = t
	}
	key := fmt.Sprintf("client %v %s %v", connect, cfg.Name, t.tables(cfg))
	return share(g, key, func() (exchange.Sender, parts.Life, error) {
		var trust func(address string) *tls.Config
		if t != nil {
			trust = t.config
		}
		sender := newHTTPClient(g.cfg.HTTP1 != config.HTTP1NetHTTP, connect, trust)
		return sender, parts.Life{End: func(context.Context) { sender.Close() }}, nil
	})
}

// newHTTPClient returns what sends over HTTP/1.1: berth's own client, or net/http's. trust is what TLS to a host and
// port goes by; nil: what Go takes for safe.
func newHTTPClient(own bool, connect time.Duration, trust func(address string) *tls.Config) exchange.Sender {
	switch {
	case own:
		return client.New(client.Options{Connect: connect, TLS: trust})
	case trust != nil:
		return exchange.NewSecureClient(connect, trust)
	}
	return exchange.NewClient(connect)
}

// tables tells one way to speak TLS to the upstreams of a pool from another.
func (t *trusts) tables(cfg config.Pool) (tables []string) {
	if t == nil {
		return nil
	}
	tables = append(tables, fmt.Sprintf("%q", cfg.TLS))
	for i, u := range cfg.Upstreams {
		if u.TLS != (config.ServerTLS{}) {
			tables = append(tables, fmt.Sprintf("%d %s %q", i, u.TLSAddress(), u.TLS))
		}
	}
	return tables
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

// lookAtTrusts is what check --online finds in the files of the pool at key. Those that cannot be used
// are an error already.
func (g *generation) lookAtTrusts(key string, pool config.Pool) (found []Finding) {
	t := g.trusts[pool.Name]
	if t == nil {
		return nil
	}
	for _, trust := range t.all() {
		switch fault, overdue := trust.Fault(), trust.Overdue(); {
		case fault != "":
			found = append(found, Finding{Key: key, Text: fault})
		case overdue != "":
			found = append(found, Finding{Key: key, Text: overdue, Warning: true})
		}
	}
	return found
}

// tlsChecks: berth goes on with what it read before, so nothing here makes it useless.
func tlsChecks(s *Site) (checks []admin.Check) {
	if s.certs != nil {
		checks = append(checks, admin.Check{Name: "tls", Probe: func() (bool, string) { return true, s.certs.Fault() }})
	}
	checks = append(checks, s.storeTrust.checks()...)
	for _, pool := range s.now.Load().cfg.Pools {
		if t := s.now.Load().trusts[pool.Name]; t != nil {
			checks = append(checks, admin.Check{Name: "tls of pool " + pool.Name, Probe: func() (bool, string) { return true, t.fault() }})
		}
	}
	return checks
}
