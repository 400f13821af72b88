package site

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// work is what operators are told of tasks, sessions, subscriptions and queues.
func (s *Site) work() adminapi.Work {
	return adminapi.Work{
		Bindings: s.bindings, IDs: s.ids, Tasks: s.tasks.Load, Rules: func() upgrade.Rules { return upgradeRules(s.now.Load().cfg) },
		CancelTask: s.cancelTask, Subscriptions: func() []api.Subscription { return subscriptionsOf(s.Proxy()) },
	}
}

// cancelTask has an upstream give up a task of its own.
func (s *Site) cancelTask(ctx context.Context, pool, upstream, id string) error {
	g := s.newest()
	defer g.leave()
	for _, ep := range g.faces {
		if ep.Router.Pool.Name() != pool {
			continue
		}
		u := ep.Router.Pool.Find(upstream)
		if u == nil {
			break
		}
		err := outbound.To(ep).CancelTask(ctx, u, id)
		if errors.Is(err, outbound.ErrNotCancelled) {
			err = fmt.Errorf("%w: %w", adminapi.ErrNotCancelled, err)
		}
		return err
	}
	return fmt.Errorf("%w: pool %s has no upstream %s any more", adminapi.ErrNotCancelled, pool, upstream)
}

func subscriptionsOf(p *proxy.Proxy) []api.Subscription {
	all := []api.Subscription{}
	for _, stream := range p.Standing() {
		all = append(all, api.Subscription{
			ID: stream.ID, Pool: stream.Pool, Kind: stream.Kind, Caller: stream.Caller, Since: stream.Since,
			Tasks: stream.Tasks, Legs: stream.Legs(), Events: stream.Events(),
		})
	}
	return all
}
