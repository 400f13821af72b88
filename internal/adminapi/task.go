package adminapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/storage"
	"berth/sticky"
	"berth/upgrade"
)

func (ts *tasks) serveTask(ctx context.Context, r *http.Request) (any, error) {
	found, err := ts.findTask(ctx, r.URL.Query().Get("pool"), api.TaskOfPath(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return ts.tell(ctx, found)
}

// foundTask is a task of one of both kinds.
type foundTask struct {
	upgraded *upgrade.Task // nil: it is a server's, or unread
	unread   bool          // it is an upgraded one, whose record the store does not give now
	pool     string
	upstream string // that owns a server's
	id       string
	binding  sticky.Binding
}

// findTask finds a task by its id, as clients know it; pool "" is any.
func (ts *tasks) findTask(ctx context.Context, pool, id string) (foundTask, error) {
	if upgraded := ts.upgraded(); upgraded != nil {
		ours, err := upgraded.IDs.Ours(ctx, id)
		if err != nil {
			return foundTask{}, ts.outages.fault(err)
		}
		if ours {
			return ts.findUpgraded(ctx, upgraded.Overview, pool, id)
		}
	}
	for _, p := range ts.pools() {
		if pool != "" && pool != p.Name() {
			continue
		}
		_, binding, err := ts.bindings.Find(ctx, p.Name(), id)
		if err == nil {
			return foundTask{pool: p.Name(), upstream: binding.Upstream, id: id, binding: binding}, nil
		}
		if !errors.Is(err, sticky.ErrUnknown) {
			return foundTask{}, ts.outages.fault(err)
		}
	}
	return foundTask{}, unknownTask(id)
}

func (ts *tasks) findUpgraded(ctx context.Context, upgraded *upgrade.Overview, pool, id string) (foundTask, error) {
	t, err := upgraded.Read(ctx, id)
	switch {
	case errors.Is(err, upgrade.ErrUnknown), err == nil && pool != "" && pool != t.Pool:
		return foundTask{}, unknownTask(id)
	case err != nil:
		return foundTask{unread: errors.Is(err, storage.ErrUnavailable), pool: pool, id: id}, ts.outages.fault(err)
	}
	return foundTask{upgraded: &t, pool: t.Pool, id: id}, nil
}

func unknownTask(id string) error {
	return admin.NotFound("there is no task " + id + ", or it has expired")
}

// tell is the task as operators see it.
func (ts *tasks) tell(ctx context.Context, f foundTask) (api.TaskDetail, error) {
	if f.upgraded == nil {
		return ts.tellServers(f), nil
	}
	return ts.tellUpgraded(ctx, f.upgraded)
}

func (ts *tasks) tellServers(f foundTask) api.TaskDetail {
	told := api.TaskDetail{Task: *ts.serverTask(f.pool, f.upstream, sticky.Left{Binding: f.binding, Expires: f.binding.Forgotten()}), May: []string{}}
	told.ID = f.id
	if told.Made.IsZero() {
		told.Timeline = []api.Moment{{What: "made", Upstream: f.upstream}}
	} else {
		told.Timeline = []api.Moment{{At: told.Made, What: "made", Upstream: f.upstream}}
	}
	if isEnd(told.State) {
		told.Timeline = append(told.Timeline, api.Moment{What: "ended", Upstream: f.upstream, Detail: told.State})
		return told
	}
	if why := ts.mayNotCancel(f); why != "" {
		told.MayNot = why
		return told
	}
	told.May = []string{orderCancel}
	return told
}

func (ts *tasks) tellUpgraded(ctx context.Context, t *upgrade.Task) (api.TaskDetail, error) {
	upgraded := ts.upgraded()
	told := api.TaskDetail{Task: *upgradedTask(t, ts.payloads()), Attempts: t.Round, Size: t.Size, Follows: t.Follows, RerunAs: t.Again.ID, May: []string{}}
	if t.State == upgrade.Queued {
		waiting, err := upgraded.Queues.Line(ctx, t.QueueName())
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			return told, err
		}
		told.Place = slices.Index(waiting, t.ID) + 1
	}
	for _, step := range t.Timeline() {
		told.Timeline = append(told.Timeline, api.Moment{At: step.At.UTC(), What: step.What, Upstream: step.Upstream, Holder: step.Holder, Detail: step.Detail})
	}
	polled := upgraded.Polls.Of(t.ID)
	told.Polls, told.Polled = polled.Count, api.Polled{At: polled.Last}
	switch {
	case !t.State.Terminal():
		told.May = []string{orderCancel}
	case t.State == upgrade.Failed:
		if err := upgraded.Orders.MayRerun(ctx, t); err != nil {
			told.MayNot = err.Error()
		} else {
			told.May = []string{orderRerun}
		}
	}
	if !ts.payloads() {
		return told, nil
	}
	payloads, err := upgraded.Overview.Payloads(ctx, t)
	told.Payloads = (*api.Payloads)(&payloads)
	return told, ts.outages.fault(err)
}
