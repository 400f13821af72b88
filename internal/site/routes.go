package site

import (
	"berth/internal/admin"
	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/internal/config"
)

// Routes are what the admin listener offers operators, whom config tells the configuration in use.
func (s *Site) Routes(config func() api.Config) []admin.Route {
	return adminapi.New(adminapi.Options{
		Pools: s.pools, PoolConfig: func(pool string) adminapi.PoolConfig { return poolConfigOf(s.Config(), pool) }, Drains: s.drains, Reopens: s.reopens,
		Board: s.board, Store: s.store, Troubles: s.Troubles, Ready: s.ready, Decisions: s.decisions, Proxy: s.Proxy,
		Limits: s.limits, Config: config, Level: s.Level, Log: s.Log,
		Work: s.work(), Payloads: func() bool { return s.Config().Admin.Payloads },
	}).Routes()
}

// poolConfigOf is what a configuration says of a pool.
func poolConfigOf(cfg config.Config, name string) adminapi.PoolConfig {
	for _, pool := range cfg.Pools {
		if pool.Name == name {
			return adminapi.PoolConfig{Path: pool.Path, Picker: pool.Picker, SessionFailover: pool.SessionFailover, Discovery: discoveryOf(pool.Discover)}
		}
	}
	return adminapi.PoolConfig{}
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
