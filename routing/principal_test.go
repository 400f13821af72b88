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

// ids are the tasks that an audience has an owner for, each with its owner.
func ids(a routing.Audience) (out []string) {
	for _, task := range a.Tasks {
		out = append(out, task.ID+"@"+task.Owner.Name)
	}
	return out
}

func audience(t *testing.T, f *fleet, q routing.Query) routing.Audience {
	t.Helper()
	a, err := f.Audience(t.Context(), q)
	if err != nil {
		t.Fatalf("Audience: %v", err)
	}
	return a
}

func TestListenIsNarrowedToOwnTasks(t *testing.T) {
	f := newFleet(t, "memory:")
	f.Principals = true
	f.bind(t, f.TaskKey("alice", "1"), "b")
	f.bind(t, f.TaskKey("bob", "2"), "a")
	f.bind(t, f.TaskKey("alice", "3"), "c")
	a := audience(t, f, as("alice", f.query(listenFor("2", "1", "3", "4", "1"))))
	if got := ids(a); !slices.Equal(got, []string{"1@b", "3@c"}) || a.Unjudged != nil {
		t.Errorf("got %v, unjudged %v, want 1@b and 3@c", got, a.Unjudged)
	}
	a = audience(t, f, as("mallory", f.query(listenFor("1", "2"))))
	if len(a.Tasks) != 0 || a.Unjudged != nil {
		t.Errorf("mallory: got %v, unjudged %v, want none", ids(a), a.Unjudged)
	}
	if f.questions() != 0 {
		t.Errorf("asked: %v", f.asked)
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
	one.Inquirer, other.Inquirer = withCredential(one, "one"), withCredential(other, "other")
	refuses(t, f.Router, one, routing.ErrUnknownTask)
	f.give("1", "b")
	refuses(t, f.Router, one, routing.ErrUnknownTask)
	routes(t, f.Router, other, "b", routing.SourceAsked)
	routes(t, f.Router, one, "b", sticky.SourceBound)
}

// withCredential asks as q does, with other credentials.
func withCredential(q routing.Query, digest string) routing.Inquirer {
	put := q.Inquirer.Questions()
	put.Credential = digest
	return inquirer(put)
}
