package command

import (
	"berth/internal/admin"
	"berth/internal/adminapi"
	"berth/internal/config"
)

// routes are what the admin listener offers operators.
func (p *process) routes() []admin.Route {
	s := p.site
	return adminapi.New(adminapi.Options{
		Pools: s.pools, Face: s.faceOf, Drains: s.drains, Reopens: s.reopens,
		Board: s.board, Store: s.store, Troubles: s.troubles, Ready: s.ready, Decisions: s.decisions, Proxy: s.proxy,
		Limits: s.limits, Config: p.reloader.config, Level: s.level, Log: s.log,
		Work: s.work(), Payloads: s.payloads,
	}).Routes()
}

// faceOf is what the configuration in use says of a pool.
func (s *site) faceOf(name string) adminapi.Face {
	for _, pool := range s.now.Load().cfg.Pools {
		if pool.Name == name {
			return adminapi.Face{Path: pool.Path, Picker: pool.Picker, SessionFailover: pool.SessionFailover, Discovery: discoveryOf(pool.Discover)}
		}
	}
	return adminapi.Face{}
}

func discoveryOf(cfg config.Discover) string {
	switch {
	case cfg.DNS != "":
		return "dns"
	case cfg.File != "":
		return "file"
	case cfg.Kubernetes.Service != "":
		return "kubernetes"
	}
	return ""
}

// payloads reports whether operators may be told what tasks bear.
func (s *site) payloads() bool { return s.now.Load().cfg.Admin.Payloads }
