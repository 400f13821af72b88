//go:build e2e

package integration

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/drain"
	"berth/internal/page"
)

// apiDouble answers /v1 with what a test says, behind the real listener: for what a real fleet cannot be
// brought to within seconds, and for names that no honest one has.
type apiDouble struct {
	mu        sync.Mutex // guards what follows
	status    api.Status
	upstreams []api.Upstream
	tasks     []api.Task
	timeline  []api.Moment
	queues    []api.Queue
	sessions  []api.Session
	events    []api.Event
	decisions []api.Decision
	fault     *admin.Fault // given to every question but that for the status
	streams   int          // that stand in all; one is told
	asked     int          // questions so far
	orders    []string
}

// parameters are those that the paths of /v1 know.
var parameters = map[string][]string{
	"upstreams/{pool}/{name}": {"items"},
	"tasks/{id}":              {"pool"},
	"sessions":                {"pool", "upstream", "caller", "cursor", "limit"},
	"subscriptions":           {"cursor", "limit"},
	"decisions":               {"id", "pool", "outcome", "limit"},
	"explain":                 {"id", "pool", "caller"},
}

// start serves it and the page until the test ends, and returns where.
func (d *apiDouble) start(t testing.TB, token string) string {
	t.Helper()
	routes := []admin.Route{
		{Pattern: "GET /v1/status", Serve: func(context.Context, *http.Request) (any, error) { return d.told(nil) }},
		{Pattern: "GET /v1/tasks", Query: []string{"pool", "upstream", "holder", "caller", "tool", "state", "kind", "older", "id", "cursor", "limit"}, Serve: func(_ context.Context, r *http.Request) (any, error) { return d.told(r) }},
	}
	for path, value := range map[string]func(r *http.Request) any{
		"upstreams":               func(*http.Request) any { return api.Upstreams{Upstreams: d.upstreams} },
		"upstreams/{pool}/{name}": func(r *http.Request) any { return d.upstream(r) },
		"tasks/{id}":              func(r *http.Request) any { return d.task(r.PathValue("id")) },
		"queues":                  func(*http.Request) any { return api.Queues{Queues: d.queues} },
		"berths":                  func(*http.Request) any { return map[string]any{"berths": d.status.Berths} },
		"sessions": func(*http.Request) any {
			return api.Sessions{Page: api.Page{Total: len(d.sessions)}, Sessions: d.sessions}
		},
		"subscriptions":   func(*http.Request) any { return d.subscriptions() },
		"troubles/{kind}": func(*http.Request) any { return map[string]any{"events": d.events} },
		"decisions":       func(*http.Request) any { return api.Decisions{Decisions: d.decisions} },
		"explain":         func(r *http.Request) any { return d.explanation(r.URL.Query().Get("id")) },
		"config":          func(*http.Request) any { return d.config() },
		"limits":          func(*http.Request) any { return d.limits() },
		"log-level":       func(*http.Request) any { return api.LogLevel{Level: "info", Configured: "info"} },
	} {
		routes = append(routes, admin.Route{Pattern: "GET /v1/" + path, Query: parameters[path], Serve: func(_ context.Context, r *http.Request) (any, error) { return d.answer(r, value) }})
	}
	for _, pattern := range []string{"POST /v1/upstreams/{pool}/{name}/{order}", "POST /v1/tasks/{id}/{order}", "POST /v1/queues/{id}/{order}", "POST /v1/reload", "PUT /v1/log-level"} {
		routes = append(routes, admin.Route{Pattern: pattern, Serve: d.order})
	}
	s, err := admin.New(t.Context(), admin.Options{Listen: "127.0.0.1:0", Token: token, Routes: routes, Page: page.Files(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return "http://" + s.Addr().String()
}

// change changes what is told from now on.
func (d *apiDouble) change(how func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how()
}

// questions is how often something was asked.
func (d *apiDouble) questions() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

func (d *apiDouble) answer(r *http.Request, value func(*http.Request) any) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.fault != nil {
		return nil, d.fault
	}
	return value(r), nil
}

// told answers for the status, or for a list of tasks.
func (d *apiDouble) told(r *http.Request) (any, error) {
	if r != nil {
		return d.answer(r, d.list)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.status
	now.Now, now.Tasks = time.Now().UTC(), d.tally()
	return now, nil
}

func (d *apiDouble) tally() api.Tally {
	tally := api.Tally{ByState: map[string]int{}, Oldest: map[string]api.Age{}, AsOf: time.Now()}
	for _, task := range d.tasks {
		if tally.ByState[task.State]++; tally.ByState[task.State] == 1 {
			tally.Oldest[task.State] = api.Age{ID: task.ID, Pool: task.Pool, Made: task.Made}
		}
	}
	return tally
}

func (d *apiDouble) list(r *http.Request) any {
	q := r.URL.Query()
	older, _ := time.ParseDuration(q.Get("older"))
	var found []api.Task
	for _, task := range d.tasks {
		if (q.Get("state") == "" || slices.Contains(strings.Split(q.Get("state"), ","), task.State)) &&
			(q.Get("tool") == "" || task.Tool == q.Get("tool")) && (q.Get("upstream") == "" || task.Upstream == q.Get("upstream")) && time.Since(task.Made) > older {
			found = append(found, task)
		}
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	most, _ := strconv.Atoi(q.Get("limit"))
	if most == 0 {
		most = 100
	}
	told := api.Tasks{Page: api.Page{Total: len(found)}, AsOf: time.Now()}
	if from+most < len(found) {
		told.Next = strconv.Itoa(from + most)
	}
	told.Tasks = found[min(from, len(found)):min(from+most, len(found))]
	return told
}

func (d *apiDouble) task(id string) any {
	for _, task := range d.tasks {
		if task.ID == id {
			detail := api.TaskDetail{Task: task, Timeline: d.timeline, Attempts: 1, Polls: 1234, Polled: api.Polled{At: time.Now().Add(-2 * time.Second)}, Size: 4711}
			switch {
			case task.State == "dispatched", task.Kind == "server":
				detail.May = []string{"cancel"}
			case task.State == "failed":
				detail.May = []string{"rerun"}
			default:
				detail.MayNot = "it has ended"
			}
			return detail
		}
	}
	return nil
}

func (d *apiDouble) upstream(r *http.Request) any {
	for _, u := range d.upstreams {
		if u.Pool == r.PathValue("pool") && u.Name == r.PathValue("name") {
			for _, task := range d.tasks[:min(5, len(d.tasks))] {
				u.Items = append(u.Items, drain.Item{Kind: "task", ID: task.ID, Tool: task.Tool, Status: "working", Caller: task.Caller, Made: task.Made, Expires: task.Expires})
			}
			return u
		}
	}
	return nil
}

func (d *apiDouble) order(_ context.Context, r *http.Request) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = append(d.orders, r.Method+" "+r.URL.Path)
	for i := range d.upstreams {
		if u := &d.upstreams[i]; u.Pool == r.PathValue("pool") && u.Name == r.PathValue("name") {
			u.Draining, u.By, u.MayStop.Since = r.PathValue("order") == "drain", "operator", time.Now()
			return *u, nil
		}
	}
	for i := range d.tasks {
		switch task := &d.tasks[i]; {
		case task.ID != r.PathValue("id"):
		case r.PathValue("order") == "rerun":
			made := *task
			made.ID, made.State = "made-again", "queued"
			return api.TaskDetail{Task: made}, nil
		case task.Kind == "server": // as one is told of that its client has not polled yet
			told := *task
			told.Message = "the upstream has taken the cancellation"
			return api.TaskDetail{Task: told}, nil
		default:
			task.State = "cancelled"
			return d.task(task.ID), nil
		}
	}
	for i := range d.queues {
		if q := &d.queues[i]; q.ID == r.PathValue("id") {
			q.Paused, q.PausedBy, q.Since = r.PathValue("order") == "pause", "operator", time.Now()
			return *q, nil
		}
	}
	return map[string]any{"changed": []string{"log.level"}, "restart": []string{}}, nil
}

func (d *apiDouble) subscriptions() any {
	return api.Subscriptions{Page: api.Page{Total: d.streams}, Subscriptions: []api.Subscription{{Pool: "default", Kind: "listen", Caller: "c0ffee", Since: time.Now().Add(-time.Hour), Tasks: 3, Legs: []string{"a", "b"}, Events: 5120}}}
}

func (d *apiDouble) explanation(id string) any {
	return api.Explanation{
		Pool: "default", Kind: "task", Plan: "tasks/get", Key: "9f86d081", Owner: "a", Why: "Task " + id + " is bound to a, as the store says.", Rule: "report_*",
		Steps:      []api.Step{{What: "lru", Result: "not found"}, {What: "store", Result: "found", Detail: "bound 12 min ago"}},
		Candidates: []api.Candidate{{Upstream: "a", State: "ok", Rank: 0, Load: 12, Weight: 1, Room: true}, {Upstream: "b", State: "silent", Rank: 2, Weight: 1, Why: "it has not answered"}},
		Answer:     api.Answer{Action: "forward"},
	}
}

func (d *apiDouble) config() any {
	return api.Config{File: "/etc/berth/berth.toml", Read: time.Now().Add(-time.Hour), Digest: "5f2c9a7be0d14c33", Keys: []api.Key{
		{Key: "listen", Value: "127.0.0.1:8080", Origin: "file:1"}, {Key: "admin.token_file", Value: "(secret)", Origin: "file:8"}, {Key: "pools[0].timeouts.read", Value: 30.0, Origin: "default"}, {Key: "store.url", Value: "redis://127.0.0.1:6379", Origin: "env:BERTH_STORE"},
	}, Restart: []string{"listen"}}
}

func (d *apiDouble) limits() any {
	return api.Limits{Limits: []api.Limit{{Key: "limits.requests", Scope: "berth", Most: "10000", Used: 412, Unit: "requests"}, {Key: "limits.tasks_per_principal", Scope: "principal", Most: "200", Used: -1, Refused: 17}}}
}

// quiet is a fleet in which all is well: n tasks at three instances of two pools, two berths.
func quiet(n int) *apiDouble {
	now := time.Now().UTC()
	d := &apiDouble{streams: 1}
	pools := []api.Pool{{Name: "default"}, {Name: "reports"}}
	for i, at := range [][2]string{{"default", "a"}, {"default", "b"}, {"reports", "r1"}} {
		seen := []api.SeenBy{{Berth: "calm-heron", State: "ok", Since: now.Add(-26 * time.Hour)}, {Berth: "swift-otter", State: "ok", Since: now.Add(-3 * time.Hour)}}
		u := api.Upstream{State: "ok", Since: now.Add(-26 * time.Hour), SeenBy: seen, Transport: "http", Era: "modern", Versions: []string{"2026-07-28"}, Server: "reports 2.4.1", Weight: 1, InFlight: 3 * i, Check: &api.Check{At: now.Add(-4 * time.Second), Passed: true, Took: 0.003}}
		u.Pool, u.Name, u.URL, u.Berths, u.Heeding = at[0], at[1], fmt.Sprintf("http://10.0.0.%d:8931/mcp", i+11), 2, 0
		u.Left = drain.Counts{Tasks: n / 3, Sessions: 12 * i, Streams: 4 * i, Requests: 3 * i, Held: i}
		if n > 0 {
			u.LostAfter = now.Add(47*time.Minute + 10*time.Second)
		}
		d.upstreams = append(d.upstreams, u)
	}
	states := []string{"working", "dispatched", "queued", "input_required", "completed", "failed"}
	for i := range n {
		kind, holder := "upgraded", "calm-heron"
		if i%6 == 0 {
			kind, holder = "server", ""
		}
		d.tasks = append(d.tasks, api.Task{
			ID: fmt.Sprintf("0198c0de-%04x-7abc-9def-%012x", i&0xffff, i), Pool: "default", Kind: kind, Tool: []string{"render_report", "reindex", "transcribe"}[i%3], State: states[i%6], Upstream: []string{"a", "b"}[i%2], Holder: holder,
			Caller: fmt.Sprintf("%08x", i*2654435761&0xffffffff), Dialect: "extension", Made: now.Add(-time.Duration(n-i) * 311 * time.Millisecond), Updated: now.Add(-time.Duration(n-i) * 97 * time.Millisecond), Expires: now.Add(time.Duration(i) * time.Second),
		})
	}
	var troubles []api.Trouble
	for _, kind := range []string{"orphans", "holder_lost", "unknown_ids", "refusals", "store_outages"} {
		troubles = append(troubles, api.Trouble{Kind: kind})
	}
	me := api.Berth{Name: "calm-heron", Host: "mcp-7f:4242", Listen: ":8080", Version: "0.10.0", Started: now.Add(-26 * time.Hour), State: "serving", Told: now, Lease: 14.2, Config: "5f2c9a7be0d14c33", ConfigRead: now.Add(-time.Hour), Ready: true, Requests: 12, Streams: 4, Held: 3, Troubles: troubles,
		Sees: []api.Sight{{Pool: "default", Upstream: "a", State: "ok", Since: now.Add(-26 * time.Hour), InFlight: 2}}}
	other := me
	other.Name, other.Host, other.Started, other.Told = "swift-otter", "mcp-80:911", now.Add(-3*time.Hour), now.Add(-2*time.Second)
	d.status = api.Status{Berth: me, Ready: true, Store: api.Store{Kind: "redis", Address: "redis://10.0.0.5:6379", Available: true}, Pools: pools, Berths: []api.Berth{me, other}, Troubles: troubles}
	d.queues = []api.Queue{{ID: "q1", Pool: "default", Rule: "render_*", Waiting: 41, Running: 4, Places: 2, Oldest: now.Add(-95 * time.Second)}, {ID: "q2", Rule: "reindex", Running: 1, Places: 1}}
	d.sessions = []api.Session{{ID: "5e55107d", Pool: "default", Upstream: "a", Caller: "c0ffee", Version: "2025-11-25", Made: now.Add(-time.Hour), Expires: now.Add(time.Hour), Movable: true, Moved: "b"}}
	d.timeline = []api.Moment{
		{At: now.Add(-12 * time.Minute), What: "made"}, {At: now.Add(-12*time.Minute + 4*time.Millisecond), What: "queued", Detail: "place 3"},
		{At: now.Add(-11 * time.Minute), What: "sent", Upstream: "a", Holder: "calm-heron"}, {At: now.Add(-8 * time.Minute), What: "asked", Upstream: "a", Detail: "which quarter?"}, {At: now.Add(-7 * time.Minute), What: "answered", Holder: "calm-heron"},
		{At: now.Add(-2 * time.Minute), What: "adopted", Holder: "swift-otter"},
	}
	d.decisions = []api.Decision{{At: now.Add(-time.Second), Pool: "default", Method: "tasks/get", ID: "0198c0de-0001", Source: "lru", Upstream: "a", Outcome: "forwarded", Status: 200, Attempts: 1, Took: 0.0042, Caller: "c0ffee"},
		{At: now.Add(-3 * time.Second), Pool: "default", Method: "tools/call", Name: "render_report", Source: "picked", Upstream: "b", Outcome: "refused", Status: 503, Attempts: 2, Took: 1.2}}
	return d
}

// troubled makes it three in the morning.
func (d *apiDouble) troubled() *apiDouble {
	now := time.Now().UTC()
	d.status.Ready, d.status.NotReady = false, []string{"pool reports: no instance is well"}
	d.status.Store.Available, d.status.Store.Since, d.status.Store.Reason = false, now.Add(-40*time.Second), "dial tcp 10.0.0.5:6379: connect: connection refused"
	for i, recent := range []int64{2, 0, 118, 7, 1} {
		d.status.Troubles[i] = api.Trouble{Kind: d.status.Troubles[i].Kind, Count: recent * 4, Recent: recent, Last: now.Add(-9 * time.Second)}
	}
	d.status.Berths[1].State, d.status.Berths[1].Lease, d.status.Berths[1].Told, d.status.Berths[1].Config, d.status.Berths[1].Version = "dead", 0, now.Add(-71*time.Second), "77aa0c11fe20", "0.8.0"
	b, r := &d.upstreams[1], &d.upstreams[2]
	b.Disagree, b.SeenBy[1].State, b.SeenBy[1].Reason, b.SeenBy[1].Since = true, "silent", "no answer within 30 s", now.Add(-190*time.Second)
	r.State, r.Reason, r.Since, r.SeenBy[0].State = "failing", "5 checks in a row: 500 Internal Server Error", now.Add(-6*time.Minute), "failing"
	r.Check = &api.Check{At: now.Add(-2 * time.Second), Reason: "500 Internal Server Error", Took: 0.2}
	d.upstreams[0].Draining, d.upstreams[0].By, d.upstreams[0].MayStop.Since, d.upstreams[0].Heeding = true, "operator", now.Add(-time.Minute), 1
	d.queues[0].Paused, d.queues[0].PausedBy, d.queues[0].Since = true, "operator", now.Add(-5*time.Minute)
	d.events = []api.Event{{At: now.Add(-9 * time.Second), Pool: "default", ID: "0198c0de-dead", What: "unknown task", Caller: "c0ffee", Detail: "no instance knows it"}}
	return d
}
