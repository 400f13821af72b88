package adminapi

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/routing"
	"berth/upgrade"
)

// queues tell of the lines of rules, and pause them.
type queues struct {
	pools    func() []*routing.Pool
	upgraded func() *upgrade.Tasks // returns nil: no rule has made any
	rules    func() upgrade.Rules  // nil: there are none
	outages  outages
}

func newQueues(o *Options) *queues {
	return &queues{pools: o.Pools, upgraded: o.Work.upgraded, rules: o.Work.Rules, outages: outages{o.Store}}
}

func (qs *queues) routes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/queues", Serve: qs.serveQueues},
		{Pattern: "POST /v1/queues/{id}/pause", Serve: qs.servePause},
		{Pattern: "POST /v1/queues/{id}/resume", Serve: qs.serveResume},
	}
}

func (qs *queues) serveQueues(ctx context.Context, _ *http.Request) (any, error) {
	told := api.Queues{Queues: []api.Queue{}}
	all, err := qs.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		one, err := qs.tellQueue(ctx, q)
		if err != nil {
			return nil, err
		}
		told.Queues = append(told.Queues, one)
	}
	return told, nil
}

// queue is the line of a rule in a pool.
type queue struct {
	id   string
	rule *upgrade.Rule // nil: none that is in force has it
	pool *routing.Pool // nil: likewise
}

// all are the queues of the rules in force, and those of no such rule any more that are paused, or in which calls of this berth
// wait.
func (qs *queues) all(ctx context.Context) ([]queue, error) {
	all := qs.inForce()
	tasks := qs.upgraded()
	if tasks == nil {
		return all, nil
	}
	pauses, err := tasks.Queues.Pauses(ctx)
	left := append(slices.Collect(maps.Keys(pauses)), tasks.Queues.Awaited()...)
	slices.Sort(left)
	for _, id := range slices.Compact(left) {
		if !slices.ContainsFunc(all, func(q queue) bool { return q.id == id }) {
			all = append(all, queue{id: id})
		}
	}
	return all, qs.outages.fault(err)
}

// paused are the queues that an operator has paused, the longest pause first.
func (qs *queues) paused(ctx context.Context) (all []api.PausedQueue, err error) {
	tasks := qs.upgraded()
	if tasks == nil {
		return nil, nil
	}
	pauses, err := tasks.Queues.Pauses(ctx)
	force := qs.inForce()
	for id, pause := range pauses {
		told := api.PausedQueue{ID: id, By: pause.By, Since: pause.Since}
		if at := slices.IndexFunc(force, func(q queue) bool { return q.id == id }); at >= 0 {
			told.Pool, told.Rule = force[at].pool.Name(), strings.Join(force[at].rule.Tools, ", ")
		}
		all = append(all, told)
	}
	slices.SortFunc(all, func(a, b api.PausedQueue) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// upstreams are the names of those at which calls of the queue may be.
func (qs *queues) upstreams(q queue) (names []string) {
	for _, pool := range qs.pools() {
		if q.pool == nil || q.pool == pool {
			names = append(names, pool.Names()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inForce are those of the rules in force. Rules whose tools are the same share one.
func (qs *queues) inForce() (all []queue) {
	if qs.upgraded() == nil || qs.rules == nil {
		return nil
	}
	rules := qs.rules()
	for i := range rules {
		rule := &rules[i]
		for _, pool := range qs.pools() {
			if rule.Concurrency == 0 || rule.Pool != "" && rule.Pool != pool.Name() {
				continue
			}
			id := rule.Terms(pool.Name()).Queue
			if !slices.ContainsFunc(all, func(q queue) bool { return q.id == id }) {
				all = append(all, queue{id, rule, pool})
			}
		}
	}
	return all
}

func (qs *queues) tellQueue(ctx context.Context, q queue) (api.Queue, error) {
	upgraded := qs.upgraded().Queues
	told := api.Queue{ID: q.id}
	if q.rule != nil {
		told.Pool, told.Rule, told.Places = q.pool.Name(), strings.Join(q.rule.Tools, ", "), q.rule.Concurrency
	}
	lines := []string{q.id}
	for _, name := range qs.upstreams(q) {
		running, err := upgraded.Running(ctx, q.id, name)
		if err != nil {
			return told, qs.outages.fault(err)
		}
		told.Running += running
		lines = append(lines, upgrade.LineAt(q.id, name))
	}
	for _, line := range lines {
		waiting, err := upgraded.Line(ctx, line)
		if err != nil {
			return told, qs.outages.fault(err)
		}
		told.Waiting += len(waiting)
		if err := qs.findOldest(ctx, &told, waiting); err != nil {
			return told, err
		}
	}
	pauses, err := upgraded.Pauses(ctx)
	if pause, paused := pauses[q.id]; paused {
		told.Paused, told.PausedBy, told.Since = true, pause.By, pause.Since
	}
	return told, qs.outages.fault(err)
}

// findOldest looks for who has waited longest, among those of whom it is the turn first: callers take turns,
// so it need not be the first.
func (qs *queues) findOldest(ctx context.Context, told *api.Queue, waiting []string) error {
	some, _, err := qs.upgraded().Overview.ReadSome(ctx, waiting[:min(len(waiting), readAtOnce)])
	for i := range some {
		if made := some[i].Created; told.Oldest.IsZero() || made.Before(told.Oldest) {
			told.Oldest = made.UTC()
		}
	}
	return qs.outages.fault(err)
}

func (qs *queues) servePause(ctx context.Context, r *http.Request) (any, error) {
	var order api.PauseOrder
	if err := read(r, &order); err != nil {
		return nil, err
	}
	return qs.setPause(ctx, r, func(q queue) error { return qs.upgraded().Queues.Pause(ctx, q.id, cmp.Or(order.By, "operator")) })
}

func (qs *queues) serveResume(ctx context.Context, r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	return qs.setPause(ctx, r, func(q queue) error { return qs.upgraded().Queues.Resume(ctx, q.id) })
}

func (qs *queues) setPause(ctx context.Context, r *http.Request, set func(q queue) error) (any, error) {
	all, err := qs.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if q.id != r.PathValue("id") {
			continue
		}
		if err := set(q); err != nil {
			return nil, qs.outages.fault(err)
		}
		told, err := qs.tellQueue(ctx, q)
		return told, err
	}
	return nil, admin.NotFound("there is no queue " + r.PathValue("id") + ": no rule in force has it, it is not paused, and no call of this berth waits in it")
}
