package site

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/reload"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/proxy/resident"
	"berth/routing"
	"berth/routing/claim"
	"berth/routing/health"
	"berth/routing/profile"
)

// newEndpoint makes the face of a pool. Without an error it is one of the generation's. The error joins all that is wrong.
func (g *generation) newEndpoint(cfg config.Pool) (*proxy.Endpoint, error) {
	authorization, badAuthorization := g.newAuthorization(cfg)
	client, badClient := g.newSender(cfg)
	pool, badPool := g.newPool(cfg)
	if badClient != nil || badPool != nil {
		return nil, reload.Join(badClient, badPool, badAuthorization)
	}
	auth := g.cfg.Auth
	ep := &proxy.Endpoint{
		Path:     cfg.Path,
		Hosts:    cfg.EffectiveHosts(),
		Origins:  cfg.EffectiveOrigins(),
		Lenient:  cfg.Headers == config.HeadersLenient,
		Host:     cfg.Host,
		Affinity: cfg.AffinityHeaders(), Rendezvous: rendezvousOf(cfg),
		Router: &routing.Router{
			Pool:  pool.Pool,
			Guard: claim.Guard{Bindings: g.site.bindings, Principals: auth.Principals(), Recover: auth.Recover == config.RecoverAsk},
			Asker: pool.asker,
		},
		Client: client,
		Timeouts: proxy.Timeouts{
			Read:    time.Duration(cfg.Timeouts.Read),
			Control: time.Duration(cfg.Timeouts.Control),
			Call:    time.Duration(cfg.Timeouts.Call),
			Quiet:   time.Duration(cfg.Timeouts.Quiet),
			Linger:  time.Duration(cfg.Timeouts.Linger),
		},
		OwnerGrace: time.Duration(cfg.OwnerGrace),
		Coalesce:   time.Duration(cfg.Coalesce),
		KeepAlive:  time.Duration(cfg.SSEKeepalive),
		Reinit:     cfg.SessionFailover == config.SessionReinit,

		FirstDraft:         cfg.FirstDraft,
		FleetNotifications: cfg.FleetNotifications,
		Authorization:      authorization,
	}
	badBridge := g.addBridge(ep, cfg.Bridge)
	var badCallers, badRates error
	ep.Identifier, ep.Resource, badCallers = g.callers.at(cfg, g.cfg.Pools)
	ep.Rates, badRates = g.newRates(cfg.Name)
	return ep, reload.Join(badAuthorization, badBridge, badCallers, badRates)
}

// pool is a pool with what is known of it.
type pool struct {
	*routing.Pool
	asker *routing.Asker
	fleet *fleet
}

// newPool takes a pool into use, which becomes what cfg says with the generation.
func (g *generation) newPool(cfg config.Pool) (pool, error) {
	m, err := newMembership(cfg)
	if err == nil {
		err = g.judgeSource(cfg.Name, cfg.Discover.Kubernetes, m.plan)
	}
	if err != nil {
		return pool{}, err
	}
	options := routing.PoolOptions{
		Name: cfg.Name, Upstreams: m.named, Settings: m.settings, Probe: g.site.prober(cfg.Name), Examine: g.site.examiner(cfg.Name),
		Revive: g.site.reviver(cfg.Name), Logger: g.site.Log, Meter: g.site.Meter,
	}
	made, err := share(g, "pool "+cfg.Name, func() (pool, parts.Life, error) {
		f := g.newFleet(cfg.Name)
		options.Seek = f.members.Seek
		p := routing.NewPool(options)
		f.pool = p
		return pool{p, routing.NewAsker(p), f}, parts.Life{Run: both(p.Run, f.Run), End: func(context.Context) { p.Close(); f.members.Close() }}, nil
	})
	g.assigned = append(g.assigned, assignment{made.fleet, m})
	return made, err
}

// addBridge has modern clients reach upstreams of the legacy era.
func (g *generation) addBridge(ep *proxy.Endpoint, cfg config.Bridge) error {
	options := bridge.Options{
		Endpoint: ep, Keys: g.site.keys, Store: g.site.store, Relay: g.site.mailbox, Isolation: bridge.Isolation(cfg.SessionIsolation), Sessions: cfg.Sessions,
		Idle: time.Duration(cfg.Idle), Question: time.Duration(cfg.Question), TaskID: g.cfg.Limits.TaskID, Logger: g.site.Log, Meter: g.site.Meter,
	}
	b, err := share(g, "bridge "+ep.Router.Pool.Name(), func() (*bridge.Bridge, parts.Life, error) {
		b := bridge.New(options)
		return b, parts.Life{Run: b.Run, Here: b.Tied, End: func(context.Context) { b.Close() }}, nil
	})
	g.then(func() { b.Change(options) })
	ep.Bridge = b
	return err
}

var spoken = map[string]profile.Spoken{config.EraModern: profile.SpokenModern, config.EraLegacy: profile.SpokenLegacy}

// eraNamed is the configuration's word for what an upstream is said to speak; "" is auto.
func eraNamed(s profile.Spoken) string {
	for name, era := range spoken {
		if era == s {
			return name
		}
	}
	return ""
}

func newUpstreams(cfg []config.Upstream) ([]*routing.Upstream, error) {
	var upstreams []*routing.Upstream
	for _, u := range cfg {
		for _, name := range u.Names() {
			target, err := targetOf(u, name)
			if err != nil {
				return nil, fmt.Errorf("upstream %s: %w", name, err)
			}
			era := spoken[u.Era]
			if resident.Is(target) {
				era = profile.SpokenLegacy
			}
			upstreams = append(upstreams, &routing.Upstream{
				Name: name, URL: target, Draining: u.Drain, Era: era, Weight: u.Weight, Backup: u.Backup, MaxInFlight: u.MaxInFlight,
				Hosted: len(u.Command) > 0,
			})
		}
	}
	return upstreams, nil
}

// targetOf is where an instance is reached.
func targetOf(u config.Upstream, name string) (*url.URL, error) {
	if len(u.Command) > 0 {
		return &url.URL{Scheme: resident.SchemeStdio, Path: "/" + name}, nil
	}
	return url.Parse(u.URL)
}

var failures = map[string]health.Failure{
	config.EjectOnConnect: health.FailedConnect,
	config.EjectOnTimeout: health.FailedTimeout,
	config.EjectOn5xx:     health.FailedStatus,
}

func ejection(cfg config.Ejection) health.Ejection {
	e := health.Ejection{
		Failures: cfg.Failures,
		Window:   time.Duration(cfg.Window),
		Min:      time.Duration(cfg.Min),
		Max:      time.Duration(cfg.Max),
		Percent:  cfg.Percent,
	}
	for outcome, failure := range failures {
		if !slices.Contains(cfg.On, outcome) {
			e.Ignore |= failure
		}
	}
	return e
}
