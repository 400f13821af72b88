package command

import (
	"context"
	"net"

	"berth/internal/admin"
	"berth/internal/config"
	"berth/internal/page"
	"berth/internal/site"
	"berth/internal/sockets"
	"berth/internal/telemetry"
)

// openAdmin opens the listeners that are not for clients: for operators, and for probes.
func (p *process) openAdmin(ctx context.Context, cfg config.Config, inherited *sockets.Listener, tel *telemetry.Telemetry) error {
	if cfg.Admin.Listen != "" || inherited != nil {
		server, err := p.newAdmin(ctx, cfg, inherited, tel)
		if err != nil {
			return err
		}
		p.admin = append(p.admin, server)
	}
	if cfg.Admin.Probes != "" {
		server, err := admin.NewProbes(ctx, admin.Options{Listen: cfg.Admin.Probes, ReusePort: cfg.ReusePort, Checks: p.checks, Log: p.log})
		if err != nil {
			return err
		}
		p.admin = append(p.admin, server)
	}
	return nil
}

func (p *process) newAdmin(ctx context.Context, cfg config.Config, inherited *sockets.Listener, tel *telemetry.Telemetry) (*admin.Server, error) {
	token, err := cfg.Admin.ReadToken()
	if err != nil {
		return nil, config.Faults{config.FaultAt(p.reloader.file, "admin.token_file", err.Error())}
	}
	o := admin.Options{
		Listen: cfg.Admin.Listen, Inherited: inherited, ReusePort: cfg.ReusePort,
		Token: token, Metrics: tel.MetricsHandler(), Pprof: cfg.Admin.Pprof, Checks: p.checks, Routes: append(p.site.Routes(p.reloader.config), p.reloader.route()), Page: page.Files(), Log: p.log, Ordered: ordered(p.site.Deeds),
	}
	if cfg.Admin.TLS != (config.AdminTLS{}) {
		if p.private, err = site.OpenAdminCerts(cfg.Admin.TLS, p.site.Observers); err != nil {
			return nil, err
		}
		o.TLS = func(inner net.Listener) net.Listener { return p.private.Listener(inner) }
	}
	return admin.New(ctx, o)
}

// checks are the site's, and whether its configuration is the file's.
func (p *process) checks() []admin.Check {
	checks := append(p.site.Checks(), admin.Check{Name: "config", Probe: p.reloader.check})
	if p.private != nil {
		checks = append(checks, admin.Check{Name: "admin tls", Probe: func() (bool, string) { return true, p.private.Fault() }})
	}
	return checks
}
