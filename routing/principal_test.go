package routing_test

import (
	"slices"
	"testing"

	"berth/routing"
	"berth/sticky"
)

// as is the request of a principal.
func as(principal string, q routing.Query) routing.Query {
	q.Principal = principal
	return q
}

func TestListenIsNarrowedToOwnTasks(t *testing.T) {
	f := newFleet(t, "memory:")
	f.Principals = true
	f.bind(t, f.TaskKey("alice", "1"), "b")
	f.bind(t, f.TaskKey("bob", "2"), "a")
	f.bind(t, f.TaskKey("alice", "3"), "b")
	d := routes(t, f.Router, as("alice", f.query(listen("2", "1", "3", "4"))), "b", sticky.SourceBound)
	if !d.Narrow || !slices.Equal(d.ListenIDs, []string{"1", "3"}) {
		t.Errorf("got narrow %v, %v, want 1 and 3", d.Narrow, d.ListenIDs)
	}
	d = unbound(t, f.Router, as("mallory", f.query(listen("1", "2"))))
	if !d.Narrow || len(d.ListenIDs) != 0 {
		t.Errorf("mallory: got narrow %v, %v, want none", d.Narrow, d.ListenIDs)
	}
}

// What belongs to somebody else and what does not exist are the same.
func TestForeignIsUnknown(t *testing.T) {
	f := newFleet(t, "memory:")
	f.Principals = true
	f.give("1", "a")
	f.give("session", "a")
	f.bind(t, f.TaskKey("alice", "1"), "a")
	f.bind(t, f.SessionKey("alice", "session"), "a")
	routes(t, f.Router, as("alice", f.query(modern("tasks/get", "1"))), "a", sticky.SourceBound)
	routes(t, f.Router, as("alice", f.inSession(legacy("tasks/get", "1"))), "a", sticky.SourceBound)
	for _, who := range []string{"mallory", ""} {
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update", "tasks/future"} {
			refuses(t, f.Router, as(who, f.query(modern(method, "1"))), routing.ErrUnknownTask)
		}
		refuses(t, f.Router, as(who, f.query(legacy("tasks/result", "1"))), routing.ErrUnknownTask)
		refuses(t, f.Router, as(who, f.inSession()), routing.ErrUnknownSession)
	}
	// A session of one's own is no way around.
	f.bind(t, f.SessionKey("mallory", "session"), "a")
	refuses(t, f.Router, as("mallory", f.inSession(legacy("tasks/get", "1"))), routing.ErrUnknownTask)
	if f.questions() != 0 {
		t.Errorf("asked with principals: %v", f.asked)
	}
}

func TestFleetIsAskedWithPrincipalsOnlyWhereConfigured(t *testing.T) {
	f := newFleet(t, "memory:")
	f.Principals, f.Recover = true, true
	f.give("1", "c")
	routes(t, f.Router, as("alice", f.query(modern("tasks/get", "1"))), "c", routing.SourceAsked)
	routes(t, f.Router, as("alice", f.query(modern("tasks/get", "1"))), "c", sticky.SourceBound)
	refuses(t, f.Router, as("alice", f.query(modern("tasks/get", "2"))), routing.ErrUnknownTask)
}

// A denial that one caller got must not speak for another: neither for other
// credentials nor for another kind of id.
func TestADenialIsForOneCallerOnly(t *testing.T) {
	f := newFleet(t, "memory:")
	one, other := f.query(modern("tasks/get", "1")), f.query(modern("tasks/get", "1"))
	one.Credential, other.Credential = "one", "other"
	refuses(t, f.Router, one, routing.ErrUnknownTask)
	f.give("1", "b")
	refuses(t, f.Router, one, routing.ErrUnknownTask)
	routes(t, f.Router, other, "b", routing.SourceAsked)
	routes(t, f.Router, one, "b", sticky.SourceBound)
}
