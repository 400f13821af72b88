package site

import (
	"context"
	"fmt"

	"berth/internal/auditlog"
	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/relay"
	"berth/internal/storage"
)

// Inspect looks at what cfg names by the parts that would serve. It binds no address, writes
// nothing and calls no tool.
func Inspect(ctx context.Context, cfg config.Config) []Finding {
	s := &Site{mailbox: relay.New(nil, "", nil, nil), parts: parts.New()} // for the name: nothing is passed on
	defer s.parts.Close()
	g := &generation{site: s, cfg: cfg}
	found, looks := g.openFiles(cfg)
	found = append(found, lookAtRules(cfg)...)
	var meetings []*meeting
	looks = append([]look{lookAtStore(cfg.Store)}, looks...)
	for i, pool := range cfg.Pools {
		key := fmt.Sprintf("pools[%d]", i)
		ep, err := g.newEndpoint(pool)
		if err != nil {
			found = append(found, fault(key, err))
		}
		if ep == nil {
			continue
		}
		found = append(found, g.lookAtTrusts(key, pool)...)
		if pool.Discover.Enabled() {
			looks = append(looks, lookAtSource(key, pool))
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

func (g *generation) openFiles(cfg config.Config) (found []Finding, looks []look) {
	if _, err := cfg.Store.ReadSealKey(); err != nil {
		found = append(found, fault("store.seal_key_file", err))
	}
	if _, err := cfg.Admin.ReadToken(); err != nil {
		found = append(found, fault("admin.token_file", err))
	}
	if err := auditlog.Check(cfg.Log.Audit); err != nil {
		found = append(found, fault("log.audit", err))
	}
	found = append(found, lookAtCerts(cfg.TLS)...)
	if _, err := g.newReceivers(cfg); err != nil {
		found = append(found, faultAt(err))
	}
	var err error
	if g.callers, err = g.newCallers(cfg.Auth); err != nil {
		g.callers = &callers{auth: cfg.Auth}
		found = append(found, fault("auth.jwt.jwks", err))
	}
	if g.callers.keys != nil {
		looks = append(looks, lookAtKeys(cfg.Auth.JWT, g.callers.keys))
	}
	return found, looks
}

func lookAtCerts(cfg config.TLS) []Finding {
	shown, err := openCerts(cfg, Observers{})
	if err != nil {
		return []Finding{fault("tls", err)}
	}
	switch {
	case shown == nil:
		return nil
	case shown.Fault() != "":
		return []Finding{{Key: "tls", Text: shown.Fault()}}
	case shown.Overdue() != "":
		return []Finding{{Key: "tls.cert", Text: shown.Overdue(), Warning: true}}
	}
	return nil
}

func lookAtStore(cfg config.Store) look {
	key := "store.url"
	if cfg.URLFile != "" {
		key = "store.url_file"
	}
	return look{key: key, see: func(ctx context.Context) (found []Finding) {
		url, _, err := cfg.EffectiveURL(StateDirectory())
		if err != nil {
			return []Finding{fault(key, err)}
		}
		trust, err := newStoreTrust(cfg, Observers{})
		if err != nil {
			return []Finding{fault("store.tls", err)}
		}
		for _, f := range storage.Inspect(ctx, string(url), storage.Options{Durability: cfg.Durability, TLS: trust.config()}) {
			found = append(found, Finding{Key: key, Text: f.Text, Warning: f.Warning})
		}
		return append(found, trust.look()...)
	}}
}

func lookAtKeys(cfg config.JWT, keys keys) look {
	const key = "auth.jwt.jwks"
	return look{key: key, see: func(ctx context.Context) []Finding {
		if _, err := keys.Usable(ctx, cfg.Algorithms); err != nil {
			return []Finding{fault(key, err)}
		}
		return nil
	}}
}
