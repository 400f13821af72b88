package adminapi

import (
	"cmp"

	"berth/internal/api"
	"berth/internal/drain"
	"berth/internal/seal"
	"berth/sticky"
	"berth/upgrade"
)

// serverTask is a task that an upstream owns, as its binding tells it.
func (ts *tasks) serverTask(pool, upstream string, l sticky.Left) *api.Task {
	item := drain.ItemOf(l, ts.ids)
	return &api.Task{
		ID: item.ID, Pool: pool, Kind: kindServer, Tool: item.Tool, State: cmp.Or(item.Status, stateUnknown), Upstream: upstream,
		Caller: item.Caller, Session: item.Session, Dialect: l.Binding.Dialect, Made: item.Made, Expires: item.Expires,
	}
}

// upgradedTask is a task of berth's own making, without its place in a queue.
func upgradedTask(t *upgrade.Task, payloads bool) *api.Task {
	told := &api.Task{
		ID: t.ID, Pool: t.Pool, Kind: kindUpgraded, Tool: t.Tool, State: string(t.State), Upstream: t.Upstream, Holder: t.Holder,
		Caller: seal.Digest(t.Principal), Session: t.Session, Dialect: "extension",
		Made: t.Created.UTC(), Updated: t.Updated.UTC(), Expires: t.Expires().UTC(),
	}
	if payloads || inOwnWords(t) {
		told.Message = t.Message
	}
	if t.Call != "" {
		told.Dialect = "core"
	}
	if t.State == upgrade.Dispatched && len(t.OpenAsks()) > 0 {
		told.State = string(upgrade.InputRequired)
	}
	if t.State == upgrade.Queued {
		told.Queue = t.Terms.Queue
	}
	return told
}

// inOwnWords reports whether the message of t is berth's: what a tool says of its progress, or why it failed,
// is part of what it answers.
func inOwnWords(t *upgrade.Task) bool {
	return t.State == upgrade.Cancelled || t.State == upgrade.Failed && t.Reason() != ""
}
