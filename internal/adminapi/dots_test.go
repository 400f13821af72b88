package adminapi_test

import (
	"testing"
	"testing/synctest"

	"berth/internal/api"
	"berth/sticky"
)

// Servers may give out ids that would be taken out of a path.
func TestATaskWhoseIDIsDotsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorkRig(t, "memory:", nil)
		for _, id := range []string{".", "..", "~."} {
			r.bind(sticky.Task, "p", "", id, sticky.Binding{Upstream: "a", Dialect: "extension", Tool: "render", Status: "working"})
			var told api.TaskDetail
			if r.must("GET", "/v1/tasks/"+api.PathOfTask(id), "", &told); told.ID != id || told.Tool != "render" {
				t.Errorf("%q: told is %q of %q", id, told.ID, told.Tool)
			}
		}
	})
}
