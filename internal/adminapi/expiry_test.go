package adminapi_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/api"
	"berth/routing"
	"berth/sticky"
)

// When a thing may be forgotten is one time, wherever it is told: in lists, of itself, and with what is left at
// its upstream. That a task's binding stands for longer, or a session's place in a list, is nobody's matter.
func TestAThingIsForgottenAtOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		key := sticky.Key{Kind: sticky.Task, Pool: "p", ID: "server-1"}
		if err := r.bindings.Bind(t.Context(), key, sticky.Binding{Upstream: "a", Dialect: "extension", Status: "working"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		r.bind(sticky.Session, "p", "", "session-1", sticky.Binding{Upstream: "b", Session: "one"})
		bound := time.Now()
		time.Sleep(time.Minute)

		var tasks api.Tasks
		r.must("GET", "/v1/tasks", "", &tasks)
		var task api.TaskDetail
		r.must("GET", "/v1/tasks/server-1", "", &task)
		var sessions api.Sessions
		r.must("GET", "/v1/sessions", "", &sessions)
		for name, c := range map[string]struct {
			listed time.Time
			life   time.Duration
		}{"a": {tasks.Tasks[0].Expires, time.Hour}, "b": {sessions.Sessions[0].Expires, 24 * time.Hour}} {
			if _, err := r.drains.Set(t.Context(), "p", name, routing.Drain{Since: time.Now()}); err != nil {
				t.Fatal(err)
			}
			left, err := r.drains.Of(context.Background(), "p", name, 10)
			if err != nil {
				t.Fatal(err)
			}
			want := bound.Add(c.life).UTC().Truncate(time.Second)
			if item := left.Items[0].Expires; !c.listed.Equal(want) || !item.Equal(want) || !left.LostAfter.Equal(want) {
				t.Errorf("%s: listed %v, as what is left %v, nothing owned after %v; want %v", name, c.listed, item, left.LostAfter, want)
			}
		}
		if !task.Expires.Equal(tasks.Tasks[0].Expires) {
			t.Errorf("by itself %v, listed %v", task.Expires, tasks.Tasks[0].Expires)
		}
	})
}
