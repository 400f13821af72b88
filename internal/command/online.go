package command

import (
	"context"
	"fmt"

	"berth/internal/config"
	"berth/internal/relay"
	"berth/internal/storage"
)

// lookAround looks at what cfg names by the parts that would serve. It binds no address, writes
// nothing and calls no tool.
func lookAround(ctx context.Context, cfg config.Config) []finding {
	g := &graph{mailbox: relay.New(nil, "", nil, nil)} // for the name: nothing is passed on
	defer g.closeClients()
	defer g.endServers()
	found, looks := g.openFiles(cfg)
	found = append(found, lookAtRules(cfg)...)
	var meetings []*meeting
	looks = append([]look{lookAtStore(cfg.Store)}, looks...)
	for i, pool := range cfg.Pools {
		key := fmt.Sprintf("pools[%d]", i)
		ep, err := g.newEndpoint(cfg.Auth, pool, observers{})
		if err != nil {
			found = append(found, fault(key, err))
		}
		if ep == nil {
			continue
		}
		if trusts := g.trusts[pool.Name]; trusts != nil {
			found = append(found, trusts.look(key)...)
		}
		meeting := &meeting{key: key, pool: pool, ep: ep, host: clientsHost(cfg.Listen, pool)}
		looks = append(looks, meeting.looks()...)
		meetings = append(meetings, meeting)
	}
	found = append(seeAll(ctx, looks), found...)
	for _, m := range meetings {
		found = append(found, m.mixed()...)
	}
	return found
}

func (g *graph) openFiles(cfg config.Config) (found []finding, looks []look) {
	if _, err := cfg.Store.ReadSealKey(); err != nil {
		found = append(found, fault("store.seal_key_file", err))
	}
	if _, err := cfg.Admin.ReadToken(); err != nil {
		found = append(found, fault("admin.token_file", err))
	}
	found = append(found, g.lookAtCerts(cfg.TLS)...)
	var err error
	if g.callers, err = g.newCallers(cfg.Auth, observers{}); err != nil {
		g.callers = &callers{auth: cfg.Auth}
		found = append(found, fault("auth.jwt.jwks", err))
	}
	if g.callers.keys != nil {
		looks = append(looks, lookAtKeys(cfg.Auth.JWT, g.callers.keys))
	}
	return found, looks
}

func (g *graph) lookAtCerts(cfg config.TLS) []finding {
	if err := g.openCerts(cfg, observers{}); err != nil {
		return []finding{fault("tls", err)}
	}
	switch {
	case g.certs == nil:
		return nil
	case g.certs.Fault() != "":
		return []finding{{key: "tls", text: g.certs.Fault()}}
	case g.certs.Overdue() != "":
		return []finding{{key: "tls.cert", text: g.certs.Overdue(), warning: true}}
	}
	return nil
}

func lookAtStore(cfg config.Store) look {
	const key = "store.url"
	url, _ := cfg.EffectiveURL(stateDirectory())
	return look{key: key, see: func(ctx context.Context) (found []finding) {
		for _, f := range storage.Inspect(ctx, string(url), storage.Options{Durability: cfg.Durability}) {
			found = append(found, finding{key: key, text: f.Text, warning: f.Warning})
		}
		return found
	}}
}

func lookAtKeys(cfg config.JWT, keys keys) look {
	const key = "auth.jwt.jwks"
	return look{key: key, see: func(ctx context.Context) []finding {
		if _, err := keys.Usable(ctx, cfg.Algorithms); err != nil {
			return []finding{fault(key, err)}
		}
		return nil
	}}
}
