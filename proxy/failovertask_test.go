package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A task does not move with its session: the next instance would deny it for good.
func TestTaskStaysWhereItWasMade(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, reinit(rigOptions{probe: true}))
				a, b := f.servers[0], f.servers[1]
				session := f.initialize()
				old := f.newCoreTask(session, 3600)
				lose(f, a)
				f.legacy(session, "tasks/cancel", byID(old)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
				if got := f.who(session); got != "b" {
					t.Fatalf("answered by %s, want b", got)
				}
				f.legacy(session, "tasks/cancel", byID(old)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
				if m := f.legacy(session, "tasks/get", byID(old)).message(t); m.Result == nil || m.Result.Status != "working" {
					t.Errorf("within the grace got %+v, want the task as last seen", m)
				}
				time.Sleep(40 * time.Second)
				f.legacy(session, "tasks/get", byID(old)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
				if n := b.Calls("tasks/get") + b.Calls("tasks/cancel"); n != 0 {
					t.Errorf("%d calls about the task went to b", n)
				}
				if owner := f.owner(old); owner != "a" {
					t.Errorf("the task is bound to %q, want a", owner)
				}
				fresh := f.newCoreTask(session, 3600)
				if m := f.legacy(session, "tasks/get", byID(fresh)).message(t); m.Result == nil || b.Calls("tasks/get") != 1 {
					t.Errorf("a task of b: got %+v", m)
				}
			})
		})
	}
}

// An instance that comes back is asked for its tasks under the name that it knows the
// session by.
func TestTaskIsFoundAgainWhenItsInstanceReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{probe: true}))
		session := f.initialize()
		first := f.newCoreTask(session, 3600)
		time.Sleep(5 * time.Second) // idle connections are closed by then
		f.network.cut("a")
		second := f.newCoreTask(session, 3600) // at b
		time.Sleep(5 * time.Second)
		f.network.mend("a")
		time.Sleep(3 * time.Second) // it is probed
		f.network.cut("b")
		if got := f.who(session); got != "a" {
			t.Fatalf("answered by %s, want a", got)
		}
		f.network.mend("b")
		time.Sleep(3 * time.Second)
		for name, id := range map[string]string{"a": first, "b": second} {
			r := f.legacy(session, "tasks/get", byID(id))
			if m := r.message(t); m.Result == nil || m.Result.Status != "working" || f.owner(id) != name {
				t.Errorf("task of %s: got %d %s", name, r.status, r.body)
			}
		}
		if n := f.servers[0].Denied("tasks/get") + f.servers[1].Denied("tasks/get"); n != 0 {
			t.Errorf("%d polls went to the wrong session", n)
		}
	})
}
