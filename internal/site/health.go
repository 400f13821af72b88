package site

import (
	"context"
	"time"

	"berth/internal/config"
	"berth/internal/stdio"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/proxy/resident"
	"berth/routing"
	"berth/routing/health"
)

// poolSettings are what a pool goes by, as its table says.
func poolSettings(cfg config.Pool) (routing.Settings, error) {
	picker, err := routing.NewPicker(cfg.Picker)
	return routing.Settings{
		Picker: picker, Ejection: ejection(cfg.Ejection), Check: check(cfg.Health), SlowStart: time.Duration(cfg.SlowStart),
		CountTasks: cfg.CountTasks, MaxInFlight: cfg.MaxInFlight, Queue: cfg.Queue, QueueTimeout: time.Duration(cfg.QueueTimeout),
	}, err
}

var checkKinds = map[string]health.CheckKind{
	config.CheckDiscover: health.CheckDiscover, config.CheckInitialize: health.CheckInitialize, config.CheckHTTP: health.CheckHTTP,
}

func check(cfg config.Health) health.Check {
	return health.Check{
		Kind: checkKinds[cfg.Check], Path: cfg.Path, Interval: time.Duration(cfg.Interval), Jitter: time.Duration(cfg.Jitter),
		Timeout: time.Duration(cfg.Timeout), Rise: cfg.Rise, Fall: cfg.Fall,
	}
}

// rendezvousOf is what an endpoint's picker keeps calls together by.
func rendezvousOf(cfg config.Pool) string {
	switch {
	case cfg.Picker != config.PickerRendezvous:
		return ""
	case cfg.RendezvousHeader() != "":
		return cfg.RendezvousHeader()
	}
	return proxy.ByPrincipal
}

// examiner checks the upstreams of a pool, as its newest endpoint reaches them.
func (s *Site) examiner(pool string) func(context.Context, *routing.Upstream, health.Check) error {
	return func(ctx context.Context, u *routing.Upstream, c health.Check) error {
		ep := s.endpointOf(pool)
		if ep == nil {
			return errNotHere
		}
		if server, runs := ownServer(ep, u); runs {
			return server.Revive(ctx) // nothing is started for a check of one that is well
		}
		return outbound.To(ep).Check(ctx, u, c)
	}
}

// reviver has the upstreams of a pool that berth runs started where that has failed.
func (s *Site) reviver(pool string) func(context.Context, *routing.Upstream) (string, error) {
	return func(ctx context.Context, u *routing.Upstream) (remark string, err error) {
		if ep := s.endpointOf(pool); ep != nil {
			if server, runs := ownServer(ep, u); runs {
				err = server.Revive(ctx)
				remark = server.Silence()
			}
		}
		return remark, err
	}
}

// prober asks the upstreams of a pool for a sign of life, as its newest endpoint reaches them.
func (s *Site) prober(pool string) func(context.Context, *routing.Upstream) error {
	return func(ctx context.Context, u *routing.Upstream) error {
		ep := s.endpointOf(pool)
		if ep == nil {
			return errNotHere
		}
		return outbound.Probe(ep.Client)(ctx, u)
	}
}

// endpointOf is the newest face of a pool; nil: it has none any more.
func (s *Site) endpointOf(pool string) *proxy.Endpoint {
	if g := s.now.Load(); g != nil {
		for _, ep := range g.faces {
			if ep.Router.Pool.Name() == pool {
				return ep
			}
		}
	}
	return nil
}

// ownServer is the server by stdio behind an upstream, if berth runs one.
func ownServer(ep *proxy.Endpoint, u *routing.Upstream) (*stdio.Instance, bool) {
	senders, ok := ep.Client.(*resident.Sender)
	if !ok || u.URL.Scheme != resident.SchemeStdio {
		return nil, false
	}
	server, ok := senders.Stdio[u.URL.Path].(*stdio.Instance)
	return server, ok
}
