package adminapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/sticky"
	"berth/upgrade/task"
)

// fill makes a task of each kind and state.
func fill(r *workRig) (ids map[string]string) {
	ids = map[string]string{}
	r.bind(sticky.Task, "p", "", "server-1", sticky.Binding{Upstream: "a", Dialect: "extension", Tool: "render", Status: "working"})
	time.Sleep(time.Minute)
	r.bind(sticky.Task, "q", "ann", "server-2", sticky.Binding{Upstream: "b", Dialect: "core", Tool: "index", Session: "digest"})
	time.Sleep(time.Minute)
	ids["runs"] = r.hand(r.rule, "ann", "hang")
	time.Sleep(time.Second)
	ids["runs too"] = r.hand(r.rule, "", "hang") // at the other upstream
	time.Sleep(time.Second)
	ids["waits"] = r.hand(r.rule, "bob", "hang")
	any, twice := r.rule, r.rule
	any.Concurrency, twice.Concurrency, twice.OnOrphan = 0, 0, task.OrphanRerun
	time.Sleep(time.Second)
	ids["failed"] = r.hand(any, "bob", "fail")
	ids["rerunnable"] = r.hand(twice, "bob", "fail twice")
	time.Sleep(time.Second)
	synctest.Wait()
	return ids
}

func TestTasksAreFilteredAndPaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		for query, want := range map[string][]string{
			"":                               {"server-1", "server-2", ids["runs"], ids["runs too"], ids["waits"], ids["failed"], ids["rerunnable"]},
			"pool=q":                         {"server-2"},
			"upstream=b&kind=server":         {"server-2"},
			"kind=server":                    {"server-1", "server-2"},
			"state=queued":                   {ids["waits"]},
			"state=queued,working":           {"server-1", ids["waits"]},
			"tool=re*":                       {"server-1"},
			"older=90s":                      {"server-1"},
			"id=" + ids["waits"]:             {ids["waits"]},
			"holder=" + r.tasks.Holder():     {ids["runs"], ids["runs too"], ids["waits"]},
			"caller=gdZ5JVHt-K7PNPOd&pool=q": nil,
		} {
			var told api.Tasks
			r.must("GET", "/v1/tasks?"+query, "", &told)
			var got []string
			for _, one := range told.Tasks {
				got = append(got, one.ID)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || told.Total != len(want) || told.Partial != "" {
				t.Errorf("%s: got %q of %d (%s), want %q", query, got, told.Total, told.Partial, want)
			}
		}
		var all, paged []api.Task
		var told api.Tasks
		r.must("GET", "/v1/tasks", "", &told)
		all = told.Tasks
		if !slices.IsSortedFunc(all, func(a, b api.Task) int { return a.Made.Compare(b.Made) }) {
			t.Errorf("not in order: %+v", all)
		}
		if told.Tally.ByState["failed"] != 2 || told.Tally.Oldest["queued"].ID != ids["waits"] || told.Tally.Oldest["working"].ID != "server-1" {
			t.Errorf("tally %+v", told.Tally)
		}
		for next := "first"; next != ""; {
			cursor := strings.TrimPrefix(next, "first")
			told = api.Tasks{}
			r.must("GET", "/v1/tasks?limit=2&cursor="+cursor, "", &told)
			paged, next = append(paged, told.Tasks...), told.Next
			if len(told.Tasks) > 2 || told.Total != len(all) {
				t.Fatalf("a page of %d of %d", len(told.Tasks), told.Total)
			}
		}
		if fmt.Sprint(paged) != fmt.Sprint(all) {
			t.Errorf("page by page:\n%v\nat once:\n%v", paged, all)
		}
		for _, bad := range []string{"state=working&older=soon", "tool=[", "kind=other", "state=running", "state=queued,", "limit=-1", "cursor=no"} {
			if status, code := r.refused("GET", "/v1/tasks?"+bad, "", nil); status != http.StatusBadRequest || code != "bad_request" {
				t.Errorf("%s: %d %s", bad, status, code)
			}
		}
	})
}

// A question about what there is none of is no empty list. What has left and still owns something, or what a list names, is there.
func TestAPoolOrUpstreamThatThereIsNoneOfIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		fill(r)
		upgraded := r.hand(r.rule, "ann", "hang")
		synctest.Wait()
		for query, want := range map[string]int{
			"tasks?pool=none": 404, "tasks?upstream=none": 404, "tasks?pool=q&upstream=none": 404, "tasks?pool=none&upstream=a": 404,
			"tasks?pool=q": 200, "tasks?upstream=b": 200, "tasks?pool=q&upstream=a&id=" + upgraded: 200,
			"sessions?pool=none": 404, "sessions?upstream=none": 404, "sessions?pool=q&upstream=a": 200,
			"decisions?pool=none": 404, "decisions?outcome=banana": 400, "decisions?pool=p&outcome=client_gone": 200,
			"subscriptions?pool=none": 404, "subscriptions?pool=q": 200,
		} {
			if status, _ := r.refused("GET", "/v1/"+query, "", new(any)); status != want {
				t.Errorf("%s: got %d, want %d", query, status, want)
			}
		}
	})
}

// A task is told by the id that its client knows, with what became of it; what it bears is told where that is
// allowed, and nowhere else.
func TestATaskIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		var told api.TaskDetail
		r.must("GET", "/v1/tasks/server-1", "", &told)
		if told.Kind != "server" || told.State != "working" || told.Upstream != "a" || !slices.Equal(told.May, []string{"cancel"}) || told.Timeline[0].What != "made" {
			t.Errorf("got %+v", told)
		}
		told = api.TaskDetail{}
		r.must("GET", "/v1/tasks/"+ids["waits"], "", &told)
		if told.State != "queued" || told.Place != 1 || told.Queue == "" || told.Holder != r.tasks.Holder() || told.Payloads != nil || len(told.Timeline) != 2 {
			t.Errorf("got %+v", told)
		}
		messages := func(id string) (all []string) {
			time.Sleep(time.Minute)
			var list api.Tasks
			r.must("GET", "/v1/tasks?id="+id, "", &list)
			told = api.TaskDetail{}
			r.must("GET", "/v1/tasks/"+id, "", &told)
			return []string{list.Tasks[0].Message, told.Message}
		}
		if got := messages(ids["failed"]); !slices.Equal(got, []string{"", ""}) {
			t.Errorf("what a tool says is told: %q", got)
		}
		r.payloads = true
		if got := messages(ids["failed"]); !slices.Equal(got, []string{"it failed", "it failed"}) {
			t.Errorf("what a tool says is not told, though it may: %q", got)
		}
		told = api.TaskDetail{}
		r.must("GET", "/v1/tasks/"+ids["rerunnable"]+"?pool=p", "", &told)
		if told.State != "failed" || told.Attempts != 1 || !slices.Equal(told.May, []string{"rerun"}) || told.Payloads == nil ||
			string(told.Payloads.Arguments) != `{"do":"fail twice"}` || !strings.Contains(string(told.Payloads.Outcome), "it failed") {
			t.Errorf("got %+v", told)
		}
		told = api.TaskDetail{}
		r.must("GET", "/v1/tasks/"+ids["failed"], "", &told)
		if len(told.May) > 0 || !strings.Contains(told.MayNot, "on_orphan") {
			t.Errorf("got %+v", told)
		}
		r.tasks.Polls.Note(ids["waits"])
		r.tasks.Polls.Note(ids["waits"])
		r.must("GET", "/v1/tasks/"+ids["waits"], "", &told)
		if told.Polls != 2 || told.Polled.At.IsZero() {
			t.Errorf("polled %d times, at %v", told.Polls, told.Polled.At)
		}
		for _, unknown := range []string{"nobody", ids["waits"] + "?pool=q", "server-1?pool=q", "T" + strings.Repeat("A", len(ids["waits"])-1)} {
			if status, code := r.refused("GET", "/v1/tasks/"+unknown, "", nil); status != http.StatusNotFound || code != "not_found" {
				t.Errorf("%s: %d %s", unknown, status, code)
			}
		}
	})
}

func TestOrdersAboutTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		var asked string
		var answer error
		r.cancel = func(_ context.Context, pool, upstream, id string) error {
			asked = pool + " " + upstream + " " + id
			return answer
		}
		order := func(id, what string) string {
			status, code := r.refused("POST", "/v1/tasks/"+id+"/"+what, "{}", &api.TaskDetail{})
			return fmt.Sprint(status, " ", code)
		}
		var told api.TaskDetail
		r.must("POST", "/v1/tasks/"+ids["waits"]+"/cancel", `{"pool":"p"}`, &told)
		if told.State != "cancelled" || told.Message != "cancelled by the operator" || told.Timeline[len(told.Timeline)-1].Detail != "cancelled" {
			t.Errorf("got %+v", told)
		}
		for _, c := range []struct{ id, what, want string }{
			{ids["waits"], "cancel", "409 ended"},
			{ids["failed"], "cancel", "409 ended"},
			{ids["failed"], "rerun", "409 not_rerunnable"},
			{ids["runs"], "rerun", "409 not_rerunnable"},
			{"server-1", "rerun", "409 not_rerunnable"},
			{"nobody", "cancel", "404 not_found"},
			{"nobody", "rerun", "404 not_found"},
			{"server-2", "cancel", "404 not_found"}, // ann's, and nobody has claimed it
			{ids["runs"], "cancel", "200 "},
		} {
			if got := order(c.id, c.what); got != c.want {
				t.Errorf("%s of %s: got %s, want %s", c.what, c.id, got, c.want)
			}
		}
		if got := order("server-1", "cancel"); got != "200 " || asked != "p a server-1" {
			t.Errorf("got %s, asked %q", got, asked)
		}
		answer = fmt.Errorf("%w: it wants credentials", adminapi.ErrNotCancelled)
		if got := order("server-1", "cancel"); got != "409 not_cancelled" {
			t.Errorf("got %s", got)
		}
		answer = errors.New("nobody listens")
		if got := order("server-1", "cancel"); got != "503 upstream_unavailable" {
			t.Errorf("got %s", got)
		}
		r.bind(sticky.Task, "q", "", "core-1", sticky.Binding{Upstream: "b", Dialect: "core"})
		if got := order("core-1", "cancel"); got != "409 not_cancellable" {
			t.Errorf("got %s", got)
		}
		told = api.TaskDetail{}
		r.must("POST", "/v1/tasks/"+ids["rerunnable"]+"/rerun", "{}", &told)
		if told.ID == ids["rerunnable"] || told.Pool != "p" {
			t.Errorf("made again as %+v", told)
		}
		if got := order(ids["rerunnable"], "rerun"); got != "409 not_rerunnable" {
			t.Errorf("a second order: %s", got)
		}
		synctest.Wait()
	})
}

func TestQueuesAreToldAndPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		var told api.Queues
		r.must("GET", "/v1/queues", "", &told)
		if len(told.Queues) != 1 {
			t.Fatalf("got %+v", told)
		}
		q := told.Queues[0]
		if q.Pool != "p" || q.Rule != "slow" || q.Waiting != 1 || q.Running != 2 || q.Places != 1 || q.Paused || q.Oldest.IsZero() {
			t.Errorf("got %+v", q)
		}
		for range 2 { // an order that is given twice changes nothing
			r.must("POST", "/v1/queues/"+q.ID+"/pause", `{"by":"ann"}`, &q)
			var status api.Status
			r.must("GET", "/v1/status", "", &status)
			if want := []api.PausedQueue{{ID: q.ID, Pool: "p", Rule: "slow", By: "ann", Since: q.Since}}; !slices.Equal(status.PausedQueues, want) {
				t.Errorf("status tells of %+v, want %+v", status.PausedQueues, want)
			}
			if !q.Paused || q.PausedBy != "ann" || q.Since.IsZero() {
				t.Errorf("got %+v", q)
			}
		}
		time.Sleep(2 * time.Second)
		r.must("POST", "/v1/tasks/"+ids["runs"]+"/cancel", "{}", &api.TaskDetail{})
		time.Sleep(time.Minute)
		var waits api.TaskDetail
		r.must("GET", "/v1/tasks/"+ids["waits"], "", &waits)
		if waits.State != "queued" {
			t.Errorf("a call of a paused queue is %s", waits.State)
		}
		q = api.Queue{}
		r.must("POST", "/v1/queues/"+q.ID+told.Queues[0].ID+"/resume", "{}", &q)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.must("GET", "/v1/tasks/"+ids["waits"], "", &waits)
		if q.Paused || waits.State != "dispatched" {
			t.Errorf("resumed: %+v, and its call is %s", q, waits.State)
		}
		if status, code := r.refused("POST", "/v1/queues/none/pause", "{}", nil); status != http.StatusNotFound || code != "not_found" {
			t.Errorf("%d %s", status, code)
		}
	})
}

// wantLeft changes the rule, and fails the test unless the queue that it had is told of beside its new one.
func wantLeft(r *workRig, queue string, paused bool) {
	r.t.Helper()
	r.rule.Tools = []string{"slow", "more"}
	var told api.Queues
	r.must("GET", "/v1/queues", "", &told)
	if len(told.Queues) != 2 || told.Queues[1].ID != queue || told.Queues[1].Paused != paused || told.Queues[1].Waiting != 1 || told.Queues[1].Running != 2 || told.Queues[1].Rule != "" {
		r.t.Fatalf("got %+v", told)
	}
}

// A queue that no rule has any more is told of, and can be paused, as long as calls wait in it.
func TestQueueOfARuleThatHasChangedIsToldWhileCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		var told api.Queues
		r.must("GET", "/v1/queues", "", &told)
		left := told.Queues[0].ID
		wantLeft(r, left, false)
		var q api.Queue
		if r.must("POST", "/v1/queues/"+left+"/pause", "{}", &q); !q.Paused {
			t.Errorf("got %+v", q)
		}
		r.must("POST", "/v1/queues/"+left+"/resume", "{}", &q)
		r.must("POST", "/v1/tasks/"+ids["waits"]+"/cancel", "{}", &api.TaskDetail{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		told = api.Queues{}
		if r.must("GET", "/v1/queues", "", &told); len(told.Queues) != 1 {
			t.Errorf("once nobody waits: got %+v", told)
		}
	})
}

// What waits in a paused queue that no rule has any more is told of, and let go.
func TestPausedQueueOfARuleThatHasChangedIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		ids := fill(r)
		var told api.Queues
		r.must("GET", "/v1/queues", "", &told)
		left := told.Queues[0].ID
		r.must("POST", "/v1/queues/"+left+"/pause", "{}", &api.Queue{})
		wantLeft(r, left, true)
		r.must("POST", "/v1/tasks/"+ids["runs"]+"/cancel", "{}", &api.TaskDetail{})
		r.must("POST", "/v1/queues/"+left+"/resume", "{}", &api.Queue{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		var waits api.TaskDetail
		if r.must("GET", "/v1/tasks/"+ids["waits"], "", &waits); waits.State != "dispatched" {
			t.Errorf("its call is %s", waits.State)
		}
		if status, code := r.refused("POST", "/v1/queues/"+left+"/resume", "{}", nil); status != http.StatusNotFound || code != "not_found" {
			t.Errorf("%d %s", status, code)
		}
	})
}

func TestSessionsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		r.bind(sticky.Session, "q", "ann", "session-1", sticky.Binding{Upstream: "a", Session: "one", Version: "2025-11-25", Kept: time.Now().Add(time.Hour), Former: "b"})
		r.bind(sticky.Session, "p", "", "session-2", sticky.Binding{Upstream: "a", Session: "two", Kept: time.Now().Add(time.Hour)})
		var told api.Sessions
		r.must("GET", "/v1/sessions?pool=q", "", &told)
		if len(told.Sessions) != 1 || told.Total != 1 {
			t.Fatalf("got %+v", told)
		}
		if s := told.Sessions[0]; s.ID != "one" || !s.Movable || s.Moved != "b" || s.Upstream != "a" || s.Version != "2025-11-25" || s.Caller == "" || s.Caller == "ann" {
			t.Errorf("got %+v", s)
		}
		told = api.Sessions{}
		r.must("GET", "/v1/sessions?pool=p", "", &told)
		if len(told.Sessions) != 1 || told.Sessions[0].Movable {
			t.Errorf("got %+v", told)
		}
	})
}

// A server's task whose end another berth has seen is told as ended, whatever this one remembers of it.
func TestATaskThatEndedAtAnotherBerthHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		r.cancel = func(context.Context, string, string, string) error {
			t.Error("its upstream was asked to give it up")
			return nil
		}
		r.bind(sticky.Task, "p", "", "t", sticky.Binding{Upstream: "a", Dialect: "extension", Status: "working"})
		other := sticky.New(r.store, sticky.Options{})
		go func() { _ = other.Run(t.Context()) }()
		key, seen, err := other.Find(t.Context(), "p", "t")
		if err != nil {
			t.Fatal(err)
		}
		other.Observe(key, &seen, sticky.Seen{At: time.Now(), Status: "completed", Ended: true, Given: true})
		synctest.Wait()
		var told api.TaskDetail
		r.must("GET", "/v1/tasks/t", "", &told)
		if told.State != "completed" || len(told.May) > 0 || told.Timeline[len(told.Timeline)-1].What != "ended" {
			t.Errorf("told %+v", told)
		}
		if status, code := r.refused("POST", "/v1/tasks/t/cancel", "{}", &told); status != http.StatusConflict || code != "ended" {
			t.Errorf("cancelled: got %d %q, want 409 ended", status, code)
		}
	})
}
