package adminapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/upgrade"
)

// taskRoutes tell of tasks, and give orders about them.
func (a *API) taskRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/tasks", Query: []string{"limit", "cursor", "pool", "upstream", "holder", "caller", "tool", "state", "kind", "older", "id"}, Serve: a.serveTasks},
		{Pattern: "GET /v1/tasks/{id}", Query: []string{"pool"}, Serve: a.serveTask},
		{Pattern: "POST /v1/tasks/{id}/cancel", Serve: a.serveCancel},
		{Pattern: "POST /v1/tasks/{id}/rerun", Serve: a.serveRerun},
	}
}

func (a *API) serveTasks(ctx context.Context, r *http.Request) (any, error) {
	wanted, err := readTaskFilter(r)
	if err != nil {
		return nil, err
	}
	seen := a.taskSnapshot.get(ctx)
	if seen.value == nil {
		if err := a.fault(seen.err); err != nil {
			return nil, err
		}
		seen.value = &taskList{}
	}
	var matching []*api.Task
	tally := newTally(seen.asOf)
	for _, one := range seen.value.all {
		if wanted.matches(one) {
			matching = append(matching, one)
			tally.add(one)
		}
	}
	told := api.Tasks{AsOf: seen.asOf.UTC(), Tally: tally.Tally}
	if told.Tasks, told.Page, err = pageOf(r, matching, placeOfTask); err != nil {
		return nil, err
	}
	told.Partial = seen.missing(a, seen.value.partial)
	return told, nil
}

func placeOfTask(t *api.Task) placed { return placed{t.Made, t.Pool, t.ID} }

// count counts all tasks, as the list of them has it; with an error, what is known.
func (a *API) count(ctx context.Context) (api.Tally, error) {
	seen := a.taskSnapshot.get(ctx)
	tally := newTally(seen.asOf)
	if seen.value != nil {
		for _, one := range seen.value.all {
			tally.add(one)
		}
	}
	return tally.Tally, a.fault(seen.err)
}

// tallying counts.
type tallying struct{ api.Tally }

func newTally(asOf time.Time) tallying {
	return tallying{api.Tally{ByState: map[string]int{}, Oldest: map[string]api.Age{}, AsOf: asOf.UTC()}}
}

func (t tallying) add(one *api.Task) {
	t.ByState[one.State]++
	if isEnd(one.State) || one.Made.IsZero() {
		return
	}
	if oldest, known := t.Oldest[one.State]; !known || one.Made.Before(oldest.Made) {
		t.Oldest[one.State] = api.Age{ID: one.ID, Pool: one.Pool, Made: one.Made}
	}
}

// isEnd reports whether a state is the end of a task, of a server's too.
func isEnd(state string) bool { return upgrade.State(state).Terminal() }

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
