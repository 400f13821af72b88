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

// An id that its owner gives out again, by another berth, while it denies the former task here is the new one's.
func TestADenialDropsNoIDThatIsGivenOutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		f, other := newRig(t, rigOptions{store: store, size: 1}), sticky.New(store, sticky.Options{})
		id := f.newTask(0)
		key := f.router.TaskKey("", id)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Second)
			if err := other.Bind(r.Context(), key, sticky.Binding{Upstream: "a", Status: "working"}, time.Hour); err != nil {
				t.Error(err)
			}
			return say(jsonType, withID(`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such task"}}`, body))(w, r, body)
		})
		f.poll(id)
		if got := ownerOf(other, key); got != "a" {
			t.Errorf("bound to %q", got)
		}
		if owned, err := f.bindings.Owned(t.Context(), "p", "a"); err != nil || owned.Tasks != 1 {
			t.Errorf("got %+v, %v", owned, err)
		}
	})
}
