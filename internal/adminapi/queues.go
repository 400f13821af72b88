package adminapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/routing"
	"berth/upgrade"
)

// queueRoutes tell of the lines of rules, and pause them.
func (a *API) queueRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/queues", Serve: a.serveQueues},
		{Pattern: "POST /v1/queues/{id}/pause", Serve: a.servePause},
		{Pattern: "POST /v1/queues/{id}/resume", Serve: a.serveResume},
	}
}

func (a *API) serveQueues(ctx context.Context, _ *http.Request) (any, error) {
	told := api.Queues{Queues: []api.Queue{}}
	for _, q := range a.queues() {
		one, err := a.tellQueue(ctx, q)
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
	rule *upgrade.Rule
	pool *routing.Pool
}

// queues are those of the rules in force. Rules whose tools are the same share one.
func (a *API) queues() (all []queue) {
	if a.tasks() == nil || a.o.Work.Rules == nil {
		return nil
	}
	rules := a.o.Work.Rules()
	for i := range rules {
		rule := &rules[i]
		for _, pool := range a.o.Pools() {
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

func (a *API) tellQueue(ctx context.Context, q queue) (api.Queue, error) {
	tasks := a.tasks()
	told := api.Queue{ID: q.id, Pool: q.pool.Name(), Rule: strings.Join(q.rule.Tools, ", "), Places: q.rule.Concurrency}
	lines := []string{q.id}
	for _, u := range q.pool.Upstreams() {
		running, err := tasks.Running(ctx, q.id, u.Name)
		if err != nil {
			return told, a.fault(err)
		}
		told.Running += running
		lines = append(lines, upgrade.LineAt(q.id, u.Name))
	}
	for _, line := range lines {
		waiting, err := tasks.Line(ctx, line)
		if err != nil {
			return told, a.fault(err)
		}
		told.Waiting += len(waiting)
		if err := a.findOldest(ctx, &told, waiting); err != nil {
			return told, err
		}
	}
	pauses, err := tasks.Pauses(ctx)
	if pause, paused := pauses[q.id]; paused {
		told.Paused, told.PausedBy, told.Since = true, pause.By, pause.Since
	}
	return told, a.fault(err)
}

// findOldest looks for who has waited longest, among those of whom it is the turn first: callers take turns,
// so it need not be the first.
func (a *API) findOldest(ctx context.Context, told *api.Queue, waiting []string) error {
	some, _, err := a.tasks().ReadSome(ctx, waiting[:min(len(waiting), readAtOnce)])
	for i := range some {
		if made := some[i].Created; told.Oldest.IsZero() || made.Before(told.Oldest) {
			told.Oldest = made.UTC()
		}
	}
	return a.fault(err)
}

func (a *API) servePause(ctx context.Context, r *http.Request) (any, error) {
	var order api.PauseOrder
	if err := read(r, &order); err != nil {
		return nil, err
	}
	return a.setPause(ctx, r, func(q queue) error { return a.tasks().Pause(ctx, q.id, cmp.Or(order.By, "operator")) })
}

func (a *API) serveResume(ctx context.Context, r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	return a.setPause(ctx, r, func(q queue) error { return a.tasks().Resume(ctx, q.id) })
}

func (a *API) setPause(ctx context.Context, r *http.Request, set func(q queue) error) (any, error) {
	for _, q := range a.queues() {
		if q.id != r.PathValue("id") {
			continue
		}
		if err := set(q); err != nil {
			return nil, a.fault(err)
		}
		told, err := a.tellQueue(ctx, q)
		return told, err
	}
	return nil, admin.NotFound("there is no queue " + r.PathValue("id") + ": no rule in force has it")
}
