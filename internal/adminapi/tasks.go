package adminapi

import (
	"context"
	"net/http"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/drain"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// tasks tell of tasks, berth's own and those of servers, and give orders about them.
type tasks struct {
	pools    func() []*routing.Pool
	bindings *sticky.Bindings
	ids      *drain.IDs
	upgraded func() *upgrade.Tasks                                      // returns nil: no rule has made any
	cancel   func(ctx context.Context, pool, upstream, id string) error // nil: none of servers are cancelled
	payloads func() bool                                                // tells whether what tasks bear may be told
	outages  outages

	snapshot snapshot[taskList]
}

func newTasks(o *Options) *tasks {
	ts := &tasks{
		pools: o.Pools, bindings: o.Work.Bindings, ids: o.Work.IDs, upgraded: o.Work.upgraded, cancel: o.Work.CancelTask,
		payloads: func() bool { return o.Payloads != nil && o.Payloads() }, outages: outages{o.Store},
	}
	ts.snapshot.read = ts.read
	return ts
}

func (ts *tasks) routes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/tasks", Query: []string{"limit", "cursor", "pool", "upstream", "holder", "caller", "tool", "state", "kind", "older", "id"}, Serve: ts.serveTasks},
		{Pattern: "GET /v1/tasks/{id}", Query: []string{"pool"}, Serve: ts.serveTask},
		{Pattern: "POST /v1/tasks/{id}/cancel", Serve: ts.serveCancel},
		{Pattern: "POST /v1/tasks/{id}/rerun", Serve: ts.serveRerun},
	}
}

func (ts *tasks) serveTasks(ctx context.Context, r *http.Request) (any, error) {
	wanted, err := readTaskFilter(r)
	if err != nil {
		return nil, err
	}
	seen := ts.snapshot.get(ctx)
	if seen.value == nil {
		if err := ts.outages.fault(seen.err); err != nil {
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
	if told.Partial = seen.missing(ts.outages, seen.value.partial); told.Partial == "" {
		err = checkNamed(ts.pools(), place{wanted.pool, wanted.upstream}, seen.value.all, func(t *api.Task) place { return place{t.Pool, t.Upstream} })
	}
	return told, err
}

func placeOfTask(t *api.Task) placed { return placed{t.Made, t.Pool, t.ID} }

// count counts all tasks, as the list of them has it. missing is why some may not be counted; "": all are.
func (ts *tasks) count(ctx context.Context) (tally api.Tally, missing string) {
	seen := ts.snapshot.get(ctx)
	counted := newTally(seen.asOf)
	says := ""
	if seen.value != nil {
		for _, one := range seen.value.all {
			counted.add(one)
		}
		says = seen.value.partial
	}
	if missing = seen.missing(ts.outages, says); missing != "" {
		missing = "tasks: " + missing
	}
	return counted.Tally, missing
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
