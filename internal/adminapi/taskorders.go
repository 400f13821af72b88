package adminapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/upgrade"
)

// Orders about tasks.
const (
	orderCancel = "cancel"
	orderRerun  = "rerun"
)

func (ts *tasks) serveCancel(ctx context.Context, r *http.Request) (any, error) {
	found, err := ts.orderedTask(ctx, r)
	switch {
	case found.unread: // it is cancelled all the same, once the store is back
	case err != nil:
		return nil, err
	case found.upgraded == nil:
		return ts.cancelServers(ctx, found)
	case found.upgraded.State.Terminal():
		return nil, ended(found.id, string(found.upgraded.State))
	}
	after, err := ts.upgraded().Orders.Cancel(ctx, found.id, found.pool, "cancelled by the operator")
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
	return ts.findTask(ctx, order.Pool, api.TaskOfPath(r.PathValue("id")))
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
	made, err := ts.upgraded().Orders.Rerun(ctx, found.id)
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
