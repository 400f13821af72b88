package routing_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/storage"
	"berth/routing"
	"berth/sticky"
)

// nobody is the URL of a Redis that is not there.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	defer l.Close()
	return "redis://" + l.Addr().String() + "/0"
}

func TestTaskCallsGoToTheOwner(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "b")
	// Methods to come need no new code.
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/delete", "tasks/future"} {
		for _, call := range []mcp.Call{modern(method, "1"), legacy(method, "1")} {
			d := routes(t, f.Router, f.query(call), "b", sticky.SourceBound)
			if d.Task != f.TaskKey("", "1") || d.Key != d.Task {
				t.Errorf("%s: got task %v, decided by %v", method, d.Task, d.Key)
			}
		}
	}
	if f.questions() != 0 {
		t.Errorf("questions for a bound task: got %v", f.asked)
	}
}

func TestOtherCallsAreForAnybody(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "b")
	for _, call := range []mcp.Call{
		{Method: "tools/call", Name: "greet"},
		{Method: "tools/call", TaskID: "1", HasTaskID: true}, // no tasks/…
		{Method: "tasks/list"},
		{Method: "initialize"},
	} {
		unbound(t, f.Router, f.query(call))
	}
	unbound(t, f.Router, f.query())
}

func TestASessionDecidesAlone(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.SessionKey("", "session"), "a")
	f.bind(t, f.TaskKey("", "1"), "b")
	d := routes(t, f.Router, f.inSession(legacy("tasks/get", "1")), "a", sticky.SourceBound)
	if d.Key != f.SessionKey("", "session") || d.Task != f.TaskKey("", "1") {
		t.Errorf("got decided by %v, about %v", d.Key, d.Task)
	}
	routes(t, f.Router, f.inSession(), "a", sticky.SourceBound) // GET, DELETE
	routes(t, f.Router, f.inSession(mcp.Call{Kind: mcp.KindResponse}), "a", sticky.SourceBound)
	routes(t, f.Router, f.query(legacy("tasks/get", "1")), "b", sticky.SourceBound)
	unbound(t, f.Router, f.inSession(mcp.Call{Method: "initialize"}))
}

// What drains keeps what it owns.
func TestDrainingOwnerKeepsItsTasks(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "b")
	f.Pool.Find("b").Draining = true
	eject(t, f.Pool, f.Pool.Find("b"))
	routes(t, f.Router, f.query(modern("tasks/get", "1")), "b", sticky.SourceBound)
}

// An upstream that was given another name holds its tasks still: the fleet is
// asked. If nobody has them they may come back with their owner.
func TestOwnerThatLeftThePoolIsAskedFor(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "renamed"), "c")
	f.bind(t, f.TaskKey("", "gone"), "c")
	f.bind(t, f.SessionKey("", "session"), "c")
	smaller := f.berth("a", "b")
	f.give("renamed", "a")
	routes(t, smaller, f.query(modern("tasks/get", "renamed")), "a", routing.SourceAsked)
	routes(t, smaller, f.query(modern("tasks/get", "renamed")), "a", sticky.SourceBound)
	refuses(t, smaller, f.query(modern("tasks/get", "gone")), routing.ErrOwnerGone)
	routes(t, f.Router, f.query(modern("tasks/get", "gone")), "c", sticky.SourceBound)
	// A session can begin anew elsewhere, and would wait in vain.
	refuses(t, smaller, f.inSession(legacy("tasks/get", "1")), routing.ErrUnknownSession)
	f.hush("b")
	refuses(t, smaller, f.query(modern("tasks/get", "gone too")), routing.ErrUnclear)
}

// Bindings hold the name, not the address.
func TestOwnerMayChangeItsAddress(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "b")
	moved := f.berth("a", "b")
	moved.Pool.Find("b").URL = &url.URL{Scheme: "http", Host: "127.0.0.2:7102", Path: "/mcp"}
	d := routes(t, moved, f.query(modern("tasks/get", "1")), "b", sticky.SourceBound)
	if d.Owner.URL.Host != "127.0.0.2:7102" {
		t.Errorf("address: got %s, want the new one", d.Owner.URL)
	}
}

func TestUnknownTaskIsAskedForAndLearned(t *testing.T) {
	f := newFleet(t, "memory:")
	f.give("1", "c")
	d := routes(t, f.Router, f.query(modern("tasks/get", "1")), "c", routing.SourceAsked)
	if d.Task != f.TaskKey("", "1") || d.Binding.Dialect != "extension" {
		t.Errorf("got task %v, dialect %q", d.Task, d.Binding.Dialect)
	}
	routes(t, f.Router, f.query(modern("tasks/get", "1")), "c", sticky.SourceBound)
	refuses(t, f.Router, f.query(modern("tasks/get", "2")), routing.ErrUnknownTask)
	refuses(t, f.Router, f.query(legacy("tasks/get", "2")), routing.ErrUnknownTask)
	f.hush("a")
	refuses(t, f.Router, f.query(modern("tasks/get", "3")), routing.ErrUnclear)
}

func TestUnknownSessionIsAskedForAndLearned(t *testing.T) {
	f := newFleet(t, "memory:")
	refuses(t, f.berth("a", "b", "c"), f.inSession(), routing.ErrUnknownSession)
	f.give("session", "b")
	q := f.inSession()
	q.Version = "2025-06-18"
	if d := routes(t, f.Router, q, "b", routing.SourceAsked); d.Binding.Version != "2025-06-18" {
		t.Errorf("version: got %q, want the client's", d.Binding.Version)
	}
	routes(t, f.Router, f.inSession(), "b", sticky.SourceBound)
}

// Modern calls about tasks must declare the extension; berth has nobody asked in
// the name of one that does not, and its answer does not tell whether the id exists.
func TestUndeclaredCallsNeverAsk(t *testing.T) {
	f := newFleet(t, "memory:")
	f.give("1", "a")
	call := modern("tasks/get", "1")
	call.DeclaresTasks = false
	refuses(t, f.Router, f.query(call), routing.ErrUndeclared)
	if f.questions() != 0 {
		t.Errorf("asked: %v", f.asked)
	}
	f.bind(t, f.TaskKey("", "1"), "a")
	routes(t, f.Router, f.query(call), "a", sticky.SourceBound) // the upstream is the judge
}

// What the fleet tells is bound unless another berth has bound it since: the first
// wins, also against a question that was under way.
func TestLearningYieldsToTheFirst(t *testing.T) {
	f := newFleet(t, "memory:")
	q := f.query(modern("tasks/get", "1"))
	ask := q.Inquirer.Questions().Task
	q.Inquirer = inquirer{Task: func(ctx context.Context, u *routing.Upstream, id string) routing.Verdict {
		if u.Name != "a" {
			return ask(ctx, u, id)
		}
		f.bind(t, f.TaskKey("", "1"), "b")
		return routing.Knows
	}}
	routes(t, f.Router, q, "b", sticky.SourceBound)
}

func TestBatchOfSeveralOwnersIsRefused(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "a")
	f.bind(t, f.TaskKey("", "2"), "a")
	f.bind(t, f.TaskKey("", "3"), "b")
	routes(t, f.Router, f.query(legacy("tasks/get", "1"), mcp.Call{Method: "ping"}, legacy("tasks/get", "2")), "a", sticky.SourceBound)
	refuses(t, f.Router, f.query(legacy("tasks/get", "1"), legacy("tasks/get", "3")), routing.ErrSeveralOwners)
	refuses(t, f.Router, f.query(legacy("tasks/get", "1"), legacy("tasks/get", "4")), routing.ErrUnknownTask)
}

// Redis away: -32602, or a 404, would make clients give up for ever what exists.
func TestNothingIsUnknownWhileTheStoreIsAway(t *testing.T) {
	f := newFleet(t, nobody(t))
	for name, q := range map[string]routing.Query{
		"modern":  f.query(modern("tasks/get", "1")),
		"legacy":  f.query(legacy("tasks/get", "1")),
		"session": f.inSession(),
	} {
		if err := f.Decide(t.Context(), &q, new(routing.Decision)); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
	}
	if _, err := f.Audience(t.Context(), f.query(listenFor("1", "2"))); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("listen: got %v, want ErrUnavailable", err)
	}
	f.give("2", "b")
	routes(t, f.Router, f.query(modern("tasks/get", "2")), "b", routing.SourceAsked)
	routes(t, f.Router, f.query(modern("tasks/get", "2")), "b", sticky.SourceBound)
	f.Principals = true
	f.give("3", "c")
	refuses(t, f.Router, f.query(modern("tasks/get", "3")), storage.ErrUnavailable)
	refuses(t, f.Router, f.inSession(), storage.ErrUnavailable)
}

func TestCallerWhoLeftIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "memory:")
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if err := f.Decide(ctx, new(f.query(modern("tasks/get", "1"))), new(routing.Decision)); !errors.Is(err, ctx.Err()) {
			t.Errorf("got %v, want %v", err, ctx.Err())
		}
		synctest.Wait()
		if f.questions() != 0 {
			t.Error("the fleet was asked for nobody")
		}
	})
}

// hinted is a list call that goes on at a cursor.
func hinted(method, cursor string) mcp.Call { return mcp.Call{Method: method, Cursor: cursor} }

func TestIssuerOfACursorOrStateIsPreferred(t *testing.T) {
	f := newFleet(t, "memory:")
	prefer := func(method, state, cursor, upstream string) {
		f.Bindings.Prefer(t.Context(), f.HintKey("", routing.HintID(method, state, cursor)), upstream)
	}
	prefer("tools/list", "", "page2", "b")
	prefer("prompts/list", "", "page2", "c")
	prefer("tools/call", "round2", "", "a")
	for _, c := range []struct {
		call mcp.Call
		want string
	}{
		{hinted("tools/list", "page2"), "b"},
		{hinted("prompts/list", "page2"), "c"}, // another list's cursor
		{hinted("tools/list", "page3"), ""},
		{mcp.Call{Method: "tools/call", RequestState: "round2"}, "a"},
		{mcp.Call{Method: "tools/call"}, ""},
	} {
		if d := unbound(t, f.Router, f.query(c.call)); d.Prefer != c.want {
			t.Errorf("%s %s%s: got %q, want %q", c.call.Method, c.call.Cursor, c.call.RequestState, d.Prefer, c.want)
		}
	}
	q := f.query(hinted("tools/list", "page2"))
	q.Principal = "mallory"
	if d := unbound(t, f.Router, q); d.Prefer != "" {
		t.Errorf("another principal's cursor: got %q", d.Prefer)
	}
	unbound(t, newFleet(t, nobody(t)).Router, f.query(hinted("tools/list", "page2")))
}

// listenFor is a subscription to these tasks.
func listenFor(ids ...string) mcp.Call {
	return mcp.Call{Method: mcp.MethodListen, Era: mcp.EraModern, Listen: listen.Filter(nil).WithTasks(ids)}
}

// A subscription's tasks may have several owners. Who declares the extension has the
// fleet asked for what the map lost; for others an upstream judges.
func TestAudienceOfSeveralOwners(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "2"), "b")
	f.bind(t, f.TaskKey("", "3"), "a")
	f.give("lost", "c")
	a := audience(t, f, f.query(listenFor("1", "2", "3", "lost")))
	if got := ids(a); !slices.Equal(got, []string{"2@b", "3@a"}) || !slices.Equal(a.Unjudged, []string{"1", "lost"}) {
		t.Errorf("got %v, unjudged %v", got, a.Unjudged)
	}
	if f.questions() != 0 {
		t.Errorf("asked: %v", f.asked)
	}
	declared := listenFor("1", "2", "3", "lost")
	declared.DeclaresTasks = true
	a = audience(t, f, f.query(declared))
	if got := ids(a); !slices.Equal(got, []string{"2@b", "3@a", "lost@c"}) || a.Unjudged != nil {
		t.Errorf("got %v, unjudged %v, want lost@c as well", got, a.Unjudged)
	}
}

// What no task can be called is neither looked up nor sent to anybody.
func TestAudienceOfImpossibleIDs(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "1"), "b")
	q := f.query(listenFor("1", "", "a\nb", "\ufffd", "12345"))
	q.LongestID = 4
	if a := audience(t, f, q); !slices.Equal(ids(a), []string{"1@b"}) || a.Unjudged != nil {
		t.Errorf("got %v, unjudged %q", ids(a), a.Unjudged)
	}
}
