package proxy_test

import (
	"errors"
	"net/http"
	"testing"

	"berth/proxy/explain"
	"berth/sticky"
	"berth/upgrade"
)

// An id is all that it takes: of a task, a session, a task of berth's own, or of nothing.
func TestAnIDIsExplained(t *testing.T) {
	f := newRig(t, rigOptions{})
	session := f.initialize()
	for name, c := range map[string]struct{ id, kind, owner, action string }{
		"task":         {f.newTask(60), "task", "a", "forward"},
		"core task":    {f.newCoreTask(session, 60), "task", "a", "forward"},
		"session":      {session, "session", "a", "forward"},
		"nothing":      {"nobodys", "task", "", "ask"},
		"no task's id": {"\x00", "task", "", "refuse"},
	} {
		told, err := f.proxy.Explainer().ByID(t.Context(), c.id, "", nil)
		if err != nil || told.Kind != c.kind || told.Owner != c.owner || told.Answer.Action != c.action || told.Pool != "p" {
			t.Errorf("%s: got %+v, %v", name, told, err)
		}
	}
	if _, err := f.proxy.Explainer().ByID(t.Context(), "x", "q", nil); !errors.Is(err, explain.ErrNoPool) {
		t.Errorf("a pool that there is not: got %v", err)
	}
}

// What it means that all deny an id depends on why they are asked: one whose owner this berth does not have is not unknown. So it is told, as
// it happens.
func TestAnIDWhoseOwnerIsNotInThePoolIsExplained(t *testing.T) {
	f := newRig(t, rigOptions{})
	id := f.newTask(60)
	key := f.router.TaskKey("", "elsewhere")
	if err := f.router.Bind(t.Context(), key, sticky.Binding{Upstream: "not here", Dialect: "extension"}, 0); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct {
		action, code string
		status       int
	}{id: {"forward", "", 0}, "elsewhere": {"ask", "owner_unavailable", 503}, "nobodys": {"ask", "-32602", 200}} {
		told, err := f.proxy.Explainer().ByID(t.Context(), id, "", nil)
		if got := told.Answer; err != nil || got.Action != want.action || got.Code != want.code || got.Status != want.status {
			t.Errorf("%s: got %+v, %v", id, told, err)
		}
		if got := f.poll(id); want.status > 0 && got.status != want.status {
			t.Errorf("%s: it was polled to %v", id, got)
		}
	}
}

// Whose an id is need not be said where a claim or a record tells.
func TestAnIDIsExplainedForItsOwner(t *testing.T) {
	f := newRig(t, rigOptions{principals: true})
	key := f.router.TaskKey("alice", "t-1")
	if err := f.router.Bind(t.Context(), key, sticky.Binding{Upstream: "b", Dialect: "extension"}, 0); err != nil {
		t.Fatal(err)
	}
	if told, err := f.proxy.Explainer().ByID(t.Context(), "t-1", "", nil); err != nil || told.Owner != "b" {
		t.Errorf("for its owner: got %+v, %v", told, err)
	}
	if told, err := f.proxy.Explainer().ByID(t.Context(), "t-1", "", new("bob")); err != nil || told.Answer.Action != "refuse" || told.Owner != "" {
		t.Errorf("for another: got %+v, %v", told, err)
	}
}

func TestATaskOfBerthsOwnIsExplained(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(*upgrade.Rule) {})
	f.answers(sayNothing)
	id := f.made()
	told, err := f.proxy.Explainer().ByID(t.Context(), id, "", nil)
	if err != nil || told.Kind != "task" || told.Answer.Action != "answer" || told.Owner != f.tasks.Holder() {
		t.Errorf("got %+v, %v", told, err)
	}
	f.do(f.modernRequest(t.Context(), "tasks/cancel", id, byID(id)))
}

// Who asks by an id has no credentials to show: what is told is what those hear who were told of the task before.
func TestAnIDAtASilentOwnerIsExplainedForWhoeverWasToldOfIt(t *testing.T) {
	f := newRig(t, rigOptions{probe: true})
	id := f.newTask(60)
	f.poll(id, "X-Key", "1")
	silence(f, "a")
	if got := f.poll(id, "X-Key", "1"); got.status != http.StatusOK {
		t.Fatalf("a poll: got %v", got)
	}
	if told, err := f.proxy.Explainer().ByID(t.Context(), id, "", nil); err != nil || told.Answer.Action != "answer" || told.Answer.Status != http.StatusOK {
		t.Errorf("got %+v, %v", told, err)
	}
	if told, err := f.proxy.Explainer().ByID(t.Context(), f.newTask(60), "", nil); err != nil || told.Answer.Action != "forward" {
		t.Errorf("a task elsewhere: got %+v, %v", told, err)
	}
}
