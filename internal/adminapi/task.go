package adminapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/storage"
	"berth/sticky"
	"berth/upgrade"
)

func (ts *tasks) serveTask(ctx context.Context, r *http.Request) (any, error) {
	found, err := ts.findTask(ctx, r.URL.Query().Get("pool"), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return ts.tell(ctx, found)
}

// foundTask is a task of one of both kinds.
type foundTask struct {
	upgraded *upgrade.Task // nil: it is a server's
	pool     string
	upstream string // that owns a server's
	id       string
	binding  sticky.Binding
}

// findTask finds a task by its id, as clients know it; pool "" is any.
func (ts *tasks) findTask(ctx context.Context, pool, id string) (foundTask, error) {
	if upgraded := ts.upgraded(); upgraded != nil {
		ours, err := upgraded.Owns(ctx, id)
		if err != nil {
			return foundTask{}, ts.outages.fault(err)
		}
		if ours {
			return ts.findUpgraded(ctx, upgraded, pool, id)
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

func (ts *tasks) findUpgraded(ctx context.Context, upgraded *upgrade.Tasks, pool, id string) (foundTask, error) {
	t, err := upgraded.Read(ctx, id)
	switch {
	case errors.Is(err, upgrade.ErrUnknown), err == nil && pool != "" && pool != t.Pool:
		return foundTask{}, unknownTask(id)
	case err != nil:
		return foundTask{}, ts.outages.fault(err)
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

// Orders about tasks.
const (
	orderCancel = "cancel"
	orderRerun  = "rerun"
)

func (ts *tasks) tellUpgraded(ctx context.Context, t *upgrade.Task) (api.TaskDetail, error) {
	upgraded := ts.upgraded()
	told := api.TaskDetail{Task: *upgradedTask(t, ts.payloads()), Attempts: t.Round, Size: t.Size, Follows: t.Follows, RerunAs: t.Again.ID, May: []string{}}
	if t.State == upgrade.Queued {
		waiting, err := upgraded.Line(ctx, t.QueueName())
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			return told, err
		}
		told.Place = slices.Index(waiting, t.ID) + 1
	}
	for _, step := range t.Timeline() {
		told.Timeline = append(told.Timeline, api.Moment{At: step.At.UTC(), What: step.What, Upstream: step.Upstream, Holder: step.Holder, Detail: step.Detail})
	}
	polled := upgraded.Polled(t.ID)
	told.Polls, told.Polled = polled.Count, api.Polled{At: polled.Last}
	switch {
	case !t.State.Terminal():
		told.May = []string{orderCancel}
	case t.State == upgrade.Failed:
		if err := upgraded.MayRerun(ctx, t); err != nil {
			told.MayNot = err.Error()
		} else {
			told.May = []string{orderRerun}
		}
	}
	if !ts.payloads() {
		return told, nil
	}
	payloads, err := upgraded.Payloads(ctx, t)
	told.Payloads = (*api.Payloads)(&payloads)
	return told, ts.outages.fault(err)
}

func (ts *tasks) serveCancel(ctx context.Context, r *http.Request) (any, error) {
	found, err := ts.orderedTask(ctx, r)
	if err != nil {
		return nil, err
	}
	if found.upgraded == nil {
		return ts.cancelServers(ctx, found)
	}
	if found.upgraded.State.Terminal() {
		return nil, ended(found.id, string(found.upgraded.State))
	}
	after, err := ts.upgraded().CancelFor(ctx, found.id, "cancelled by the operator")
	switch {
	case errors.Is(err, upgrade.ErrTerminal):
		return nil, ended(found.id, string(after.State))
	case errors.Is(err, upgrade.ErrUnknown):
		return nil, unknownTask(found.id)
	case err != nil:
		return nil, ts.outages.fault(err)
	}
	return ts.tellUpgraded(ctx, &after)
}

// orderedTask is the task that an order is about.
func (ts *tasks) orderedTask(ctx context.Context, r *http.Request) (foundTask, error) {
	var order api.TaskOrder
	if err := read(r, &order); err != nil {
		return foundTask{}, err
	}
	return ts.findTask(ctx, order.Pool, r.PathValue("id"))
}

func ended(id, state string) error {
	return &admin.Fault{Status: http.StatusConflict, Code: "ended", Message: "task " + id + " has ended: it is " + state}
}

// cancelTime bounds what an upstream may take to give a task up.
const cancelTime = 10 * time.Second

func (ts *tasks) cancelServers(ctx context.Context, f foundTask) (any, error) {
	if isEnd(f.binding.Status) {
		return nil, ended(f.id, f.binding.Status)
	}
	if why := ts.mayNotCancel(f); why != "" {
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "not_cancellable", Message: why}
	}
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	err := ts.cancel(ctx, f.pool, f.upstream, f.id)
	switch {
	case errors.Is(err, ErrNotCancelled):
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "not_cancelled", Message: err.Error()}
	case err != nil:
		return nil, &admin.Fault{Status: http.StatusServiceUnavailable, Code: "upstream_unavailable", Message: "upstream " + f.upstream + " could not be asked: " + err.Error()}
	}
	told := ts.tellServers(f)
	told.Message = "the upstream has taken the cancellation; its state shows once a client polls"
	return told, nil
}

// mayNotCancel is why berth cannot ask an upstream to give a task up; "": it can.
func (ts *tasks) mayNotCancel(f foundTask) string {
	switch {
	case ts.cancel == nil:
		return "this berth cancels no tasks of servers"
	case f.binding.Dialect != "extension":
		return "a task of the dialect " + f.binding.Dialect + " is cancelled in its client's session alone, which berth does not have: ask the client, or the server"
	}
	return ""
}

func (ts *tasks) serveRerun(ctx context.Context, r *http.Request) (any, error) {
	found, err := ts.orderedTask(ctx, r)
	if err != nil {
		return nil, err
	}
	if found.upgraded == nil {
		return nil, notRerunnable("it is a server's own task, whose call berth does not keep")
	}
	made, err := ts.upgraded().Rerun(ctx, found.id)
	refused, isRefused := errors.AsType[*upgrade.Refusal](err)
	switch {
	case errors.Is(err, upgrade.ErrNotRerunnable):
		return nil, notRerunnable(err.Error())
	case errors.Is(err, upgrade.ErrUnknown):
		return nil, unknownTask(found.id)
	case isRefused:
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "too_many", Message: refused.Error()}
	case errors.Is(err, upgrade.ErrDraining):
		return nil, &admin.Fault{Status: http.StatusServiceUnavailable, Code: "draining", Message: "this berth is going: ask another one"}
	case err != nil:
		return nil, ts.outages.fault(err)
	}
	return ts.tellUpgraded(ctx, &made)
}

func notRerunnable(why string) error {
	return &admin.Fault{Status: http.StatusConflict, Code: "not_rerunnable", Message: why}
}
