package proxy_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/seal"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/routing"
	"berth/sticky"
)

// visitingRig is two instances, with a session at each: of the client of a task at a, and a later one at b.
type visitingRig struct {
	*rig
	former, later string
	heard         []string // sessions in which a is asked about the task
}

func newVisitingRig(t *testing.T, o rigOptions) *visitingRig {
	t.Helper()
	f := &visitingRig{rig: newRig(t, o)}
	f.former = f.initialize()
	if err := f.bindings.Bind(t.Context(), f.router.TaskKey("", "t"), sticky.Binding{Upstream: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	f.pool.SetDrains(map[string]routing.Drain{"a": {Since: time.Now()}})
	f.later = f.initialize()
	f.pool.SetDrains(nil)
	for i, s := range f.servers {
		if got := s.Sessions(); len(got) != 1 {
			t.Fatalf("%s has the sessions %v", s.Name, got)
		}
		s.inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !strings.HasPrefix(methodIn(body), "tasks/") {
				return false
			}
			if i == 1 {
				return say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such task"}}`)(w, r, body)
			}
			f.heard = append(f.heard, r.Header.Get("Mcp-Session-Id"))
			if sessions := s.Sessions(); len(sessions) != 2 || !slices.ContainsFunc(sessions, func(s mcptest.SessionView) bool { return s.Initialized }) {
				t.Errorf("a is asked while it has the sessions %v", sessions)
			}
			return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","status":"working"}}`)(w, r, body)
		})
	}
	return f
}

// A client that begins a new session finds its task wherever that is: the owner is asked in a session of its own, which ends with the answer.
func TestTaskIsFoundInALaterSession(t *testing.T) {
	f := newVisitingRig(t, reinit(rigOptions{tcp: true, size: 2}))
	for range 2 {
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			r := f.legacy(f.later, method, byID("t"))
			if !strings.Contains(r.body, `"working"`) || r.header.Get("Mcp-Session-Id") != "" && r.header.Get("Mcp-Session-Id") != f.later {
				t.Errorf("%s: %v", method, r)
			}
		}
	}
	for _, s := range f.heard {
		if s == "" || s == f.former || s == f.later {
			t.Errorf("a is asked in the session %q, of others", s)
		}
	}
	told := f.explains(f.request(t.Context(), http.MethodPost, message("tasks/get", byID("t")), legacyHeader(f.later)...), nil)
	if told.Owner != "a" || !strings.HasPrefix(told.Why, "its task is bound to a") || !strings.HasSuffix(told.Answer.Detail, "in a session that berth opens there for it: the client's is at b") {
		t.Errorf("explained as %+v", told)
	}
	if n := len(f.heard); n != 6 {
		t.Errorf("a was asked %d times, want 6", n)
	}
	for _, s := range f.servers {
		if got := s.Sessions(); len(got) != 1 {
			t.Errorf("%s is left with the sessions %v", s.Name, got)
		}
	}
	if got := f.who(f.later); got != "b" {
		t.Errorf("the session is at %q, want b", got)
	}
}

// What its owner does not open a session for is out of reach, and is not called unknown.
func TestTaskWhoseOwnerOpensNoSessionIsNotUnknown(t *testing.T) {
	f := newVisitingRig(t, reinit(rigOptions{tcp: true, size: 2}))
	f.servers[0].inject(onMethod("initialize", sayStatus(http.StatusInternalServerError, "text/plain", "not now")))
	f.legacy(f.later, "tasks/get", byID("t")).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
}

// An owner that says nothing costs a poll no more time in a later session than in its own.
func TestTaskWhoseOwnerIsSilentInALaterSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newVisitingRig(t, reinit(rigOptions{size: 2, endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Read, ep.Timeouts.Control = 10*time.Second, 30*time.Second }}))
		f.servers[0].inject(onMethod("initialize", sayNothing))
		began := time.Now()
		f.legacy(f.later, "tasks/get", byID("t")).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %v, want 10 s", took)
		}
	})
}

// A client that does not wait for a result any more leaves no session at its task's owner.
func TestVisitEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newVisitingRig(t, reinit(rigOptions{size: 2}))
		f.servers[0].inject(onMethod("tasks/result", sayNothing))
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if response, err := f.client.Do(f.request(ctx, http.MethodPost, message("tasks/result", byID("t")), legacyHeader(f.later)...)); err == nil {
			response.Body.Close()
		}
		synctest.Wait()
		if got := f.servers[0].Sessions(); len(got) != 1 {
			t.Errorf("a is left with the sessions %v", got)
		}
	})
}

// Where the store does not say whose a task is, another instance's word that it is unknown is not passed on.
func TestTaskInALaterSessionWhileTheStoreIsAway(t *testing.T) {
	redis := redistest.Start(t)
	o := func() rigOptions { return reinit(rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL())}) }
	f := newVisitingRig(t, o())
	other := f.second(o())
	other.who(f.later) // is near there
	redis.Stop()
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		other.legacy(f.later, method, byID("t")).fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	}
	redis.Cont()
	f.eventually("the task", func() bool { return strings.Contains(other.legacy(f.later, "tasks/get", byID("t")).body, "working") })
}

// A server that tells of a task in its own session alone is no reason to forget whose the task is.
func TestTaskThatIsDeniedInALaterSessionStaysBound(t *testing.T) {
	f := newVisitingRig(t, reinit(rigOptions{tcp: true, size: 2}))
	denies := onMethod("tasks/get", say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such task"}}`))
	f.servers[0].inject(denies)
	aside := f.initialize() // at a, too
	key := f.router.TaskKey("", "mine")
	if err := f.bindings.Bind(t.Context(), key, sticky.Binding{Upstream: "a", Session: seal.Digest(f.former)}, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, ask := range [][2]string{{f.later, "t"}, {f.later, "mine"}, {aside, "mine"}} {
		if r := f.legacy(ask[0], "tasks/get", byID(ask[1])); !strings.Contains(r.body, "-32602") {
			t.Errorf("got %v", r)
		}
	}
	if f.owner("t") != "a" || f.owner("mine") != "a" {
		t.Errorf("bound to %q and %q", f.owner("t"), f.owner("mine"))
	}
	f.legacy(f.former, "tasks/get", byID("mine"))
	if f.owner("mine") != "" {
		t.Error("what is denied in its own session stays bound")
	}
}

// Where sessions are not opened anew the session decides.
func TestTaskInALaterSessionThatCannotBeOpenedAnew(t *testing.T) {
	f := newVisitingRig(t, rigOptions{tcp: true, size: 2, server: func(s *mcptest.Server) { s.SessionOptional = false }})
	if r := f.legacy(f.later, "tasks/get", byID("t")); !strings.Contains(r.body, "-32602") {
		t.Errorf("got %v", r)
	}
}
