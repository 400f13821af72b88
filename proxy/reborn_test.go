package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
	"berth/sticky"
)

// An id that its owner has denied at another berth may be another instance's task since: the former owner, whom this berth remembers,
// cannot speak for that.
func TestAFormerOwnersDenialIsNotTold(t *testing.T) {
	for name, ask := range map[string]func(f *rig, id string) reply{
		"tasks/get":    func(f *rig, id string) reply { return f.poll(id) },
		"tasks/result": func(f *rig, id string) reply { return f.legacy("", "tasks/result", byID(id)) },
		"tasks/cancel": func(f *rig, id string) reply { return f.modern("tasks/cancel", id, byID(id)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, "memory:")
				f, other := newRig(t, rigOptions{store: store}), sticky.New(store, sticky.Options{})
				f.pool.SetDrains(map[string]routing.Drain{"a": {Since: time.Now()}})
				id := f.newTask(0)
				key := f.router.TaskKey("", id)
				for _, at := range []struct {
					by       *sticky.Bindings
					upstream string
				}{{f.bindings, "a"}, {other, "b"}} {
					at.by.Unbind(t.Context(), key)
					if err := at.by.Bind(t.Context(), key, sticky.Binding{Upstream: at.upstream}, 0); err != nil {
						t.Fatal(err)
					}
				}
				if r := ask(f, id); r.status != http.StatusServiceUnavailable || r.message(t).Error == nil {
					t.Errorf("got %d %s, want 503", r.status, r.body)
				}
				if got := ownerOf(other, key); got != "b" {
					t.Errorf("bound to %q, want b", got)
				}
				if r := ask(f, id); r.message(t).Result == nil {
					t.Errorf("afterwards got %s", r.body)
				}
			})
		})
	}
}
