package adminapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/api"
	"berth/upgrade"
)

// taskStates are all that a task may be in, berth's own or a server's.
var taskStates = []string{"queued", "accepted", "dispatched", "working", stateUnknown, "input_required", "completed", "failed", "cancelled"}

// stateUnknown is that of a server's task of which no answer has told yet.
const stateUnknown = "unknown"

// taskFilter is which tasks are asked for.
type taskFilter struct {
	pool, upstream, holder, caller, kind, id string

	tool   upgrade.Glob
	states []string
	before time.Time // made before; zero: at any time
}

func readTaskFilter(r *http.Request) (f taskFilter, err error) {
	q := r.URL.Query()
	f = taskFilter{
		pool: q.Get("pool"), upstream: q.Get("upstream"), holder: q.Get("holder"), caller: q.Get("caller"), kind: q.Get("kind"), id: q.Get("id"),
		tool: upgrade.Glob(q.Get("tool")),
	}
	if states := q.Get("state"); states != "" {
		f.states = strings.Split(states, ",")
	}
	for _, state := range f.states {
		if !slices.Contains(taskStates, state) {
			return f, badRequest("no task is in state " + strconv.Quote(state) + "; states are " + strings.Join(taskStates, ", "))
		}
	}
	if f.tool != "" {
		if err := f.tool.Check(); err != nil {
			return f, badRequest("tool " + err.Error())
		}
	}
	if f.kind != "" && f.kind != kindServer && f.kind != kindUpgraded {
		return f, badRequest(`kind must be "server" or "upgraded"`)
	}
	if older := q.Get("older"); older != "" {
		age, err := time.ParseDuration(older)
		if err != nil || age < 0 {
			return f, badRequest("older must be an age, like 90s, 5m or 2h")
		}
		f.before = time.Now().Add(-age)
	}
	return f, nil
}

func (f *taskFilter) matches(t *api.Task) bool {
	return is(f.pool, t.Pool) && is(f.upstream, t.Upstream) && is(f.holder, t.Holder) && is(f.caller, t.Caller) && is(f.kind, t.Kind) && is(f.id, t.ID) &&
		(f.states == nil || slices.Contains(f.states, t.State)) && (f.tool == "" || f.tool.Match(t.Tool)) &&
		(f.before.IsZero() || !t.Made.IsZero() && t.Made.Before(f.before))
}
