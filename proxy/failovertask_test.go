package proxy_test

import (
	"context"
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

// A task whose binding is lost is asked for under the name that each instance knows
// the session by, and is learned with it.
func TestLostTaskOfAMovedSessionIsLearnedAgain(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true, principals: true}))
	f.router.Recover = true
	alice := func(session, method, params string) reply {
		return f.do(f.request(t.Context(), http.MethodPost, message(method, params), append(legacyHeader(session), userHeader, "alice")...))
	}
	session := alice("", "initialize", `"protocolVersion":"2025-11-25"`).header.Get("Mcp-Session-Id")
	f.servers[0].Restart()
	r := alice(session, "tools/call", slowCompute(3600)+`,"task":{"ttl":60000}`)
	id := r.message(t).Result.Task.TaskID
	f.bindings.Unbind(t.Context(), f.router.TaskKey("alice", id))
	for range 2 {
		if r := alice(session, "tasks/get", byID(id)); r.message(t).Result == nil {
			t.Errorf("got %d %s, want the task", r.status, r.body)
		}
	}
	if b := f.servers[1]; b.Denied("tasks/get")+b.Denied("ping") != 0 {
		t.Errorf("b was asked in a session that it does not know")
	}
}

// The next instance takes the request to open a session and says nothing: the client
// waits as long as for a short call, and begins anew.
func TestMoveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.servers[1].freeze()
		before := time.Now()
		if r := f.legacy(session, "tools/call", `"name":"who"`); r.status != http.StatusNotFound {
			t.Errorf("got %d %s, want 404", r.status, r.body)
		}
		if took := time.Since(before); took != 30*time.Second {
			t.Errorf("took %v, want timeouts.control, 30s", took)
		}
		if n := f.servers[2].Calls("initialize"); n != 0 {
			t.Errorf("%d sessions opened elsewhere", n)
		}
	})
}

// Who begins a move may leave; the others who wait for it do not suffer.
func TestMoveOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.servers[1].inject(onMethod("initialize", func(http.ResponseWriter, *http.Request, []byte) bool {
			time.Sleep(5 * time.Second)
			return false
		}))
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			response, err := f.client.Do(f.request(ctx, http.MethodGet, "", legacyHeader(session)...))
			if err == nil {
				response.Body.Close()
			}
		}()
		time.Sleep(time.Second)
		go func() {
			time.Sleep(time.Second)
			leave()
		}()
		if got := f.who(session); got != "b" || f.calls("initialize") != 2 {
			t.Errorf("answered by %s with %d sessions opened, want b and 2", got, f.calls("initialize"))
		}
	})
}
