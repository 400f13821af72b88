package proxy_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/mcptest"
	"berth/internal/storage"
	"berth/proxy"
)

// TestListWithPrincipalsIsTheCallersOwn: of whatever the instances list, in a session
// and without one. What nobody is known to own is nobody's.
func TestListWithPrincipalsIsTheCallersOwn(t *testing.T) {
	for _, perPage := range []int{0, 1, 3} {
		b := start(t, setup{principals: true, pool: inTurn, server: func(s *mcptest.Server) { s.TasksPerPage = perPage }})
		want := map[string][]string{}
		for i := range 9 {
			who := []string{"alice", "bob", ""}[i/2%3]
			want[who] = append(want[who], b.makeCoreTask("", userHeader, who))
		}
		// Made without berth: the map does not know whose it is.
		fetch(t, http.MethodPost, b.urls[0], message("tools/call", slowTool+`,"task":{}`), "Mcp-Protocol-Version", "2025-11-25")
		for _, who := range []string{"alice", "bob", "", "mallory"} {
			got, _ := b.listAll("", userHeader, who)
			if !slices.Equal(sorted(idsOf(got)), sorted(want[who])) {
				t.Errorf("%d a page, %q: got %v, want %v", perPage, who, idsOf(got), want[who])
			}
		}
	}
}

// TestListInASessionWithPrincipalsIsTheCallersOwn: an instance may list in one session
// what it holds for all.
func TestListInASessionWithPrincipalsIsTheCallersOwn(t *testing.T) {
	var all []string
	b := start(t, setup{principals: true, upstreams: 1, server: func(s *mcptest.Server) {
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) != "tasks/list" {
				return false
			}
			var tasks []string
			for _, id := range all {
				tasks = append(tasks, fmt.Sprintf(`{ "taskId":%q }`, id))
			}
			return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[`+strings.Join(tasks, ",")+`]}}`)(w, r, body)
		}
	}})
	session, other := b.open("2025-11-25", userHeader, "alice"), b.open("2025-11-25", userHeader, "bob")
	own, foreign := b.makeCoreTask(session, userHeader, "alice"), b.makeCoreTask(other, userHeader, "bob")
	all = []string{foreign, own, "nobodys"}
	got, _ := b.listAll(session, userHeader, "alice")
	if !slices.Equal(got, []string{fmt.Sprintf(`{ "taskId":%q }`, own)}) {
		t.Errorf("got %v, want alice's task as it was", got)
	}
	if r := b.legacy(session, "tasks/list", "", userHeader, "bob"); r.status != 404 {
		t.Errorf("bob in the session of alice: got %v, want 404", r)
	}
}

// TestCursorIsItsCallersOnly: it takes nobody else to a place in the list, and tells
// nobody which tasks of others stand before it.
func TestCursorIsItsCallersOnly(t *testing.T) {
	b := start(t, setup{principals: true, upstreams: 1, server: func(s *mcptest.Server) { s.TasksPerPage = 2 }})
	session := b.open("2025-11-25", userHeader, "alice")
	for _, s := range []string{"", session} {
		b.makeCoreTask(s, userHeader, "alice")
		foreign := b.makeCoreTask(s, userHeader, "alice") // the instance's cursor
		b.makeCoreTask(s, userHeader, "alice")
		cursor := b.legacy(s, "tasks/list", "", userHeader, "alice").taskPage(t).Result.NextCursor
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || cursor == "" || strings.Contains(string(raw), foreign) || strings.Contains(cursor, foreign) {
			t.Errorf("in session %v: got %q, %v, want a sealed cursor", s != "", cursor, err)
		}
		if r := b.legacy(s, "tasks/list", cursorParam(cursor), userHeader, "alice"); len(r.taskPage(t).Result.Tasks) != 1 {
			t.Errorf("in session %v: got %v, want the second page", s != "", r)
		}
		before := b.contacted()
		elsewhere := map[string]reply{
			"bob":    b.legacy("", "tasks/list", cursorParam(cursor), userHeader, "bob"),
			"nobody": b.legacy("", "tasks/list", cursorParam(cursor)),
		}
		if s == "" {
			elsewhere["in a session"] = b.legacy(session, "tasks/list", cursorParam(cursor), userHeader, "alice")
		} else {
			elsewhere["without the session"] = b.legacy("", "tasks/list", cursorParam(cursor), userHeader, "alice")
		}
		for name, r := range elsewhere {
			if r.status != 200 || r.code() != -32602 {
				t.Errorf("%s: got %v, want -32602", name, r)
			}
		}
		if b.contacted() != before {
			t.Errorf("in session %v: the instance heard of a cursor in other hands", s != "")
		}
	}
}

// TestOnlyTheOwnerTellsOfATask: that another instance lists it, too, does not count.
func TestOnlyTheOwnerTellsOfATask(t *testing.T) {
	var id string
	b := start(t, setup{principals: true, pool: inTurn, server: func(s *mcptest.Server) {
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return s.Name == "a" && onList(say(jsonType, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":%q,"status":"failed"}]}}`, id)))(w, r, body)
		}
	}})
	b.makeCoreTask("", userHeader, "bob")
	id = b.makeCoreTask("", userHeader, "alice")
	if got, _ := b.listAll("", userHeader, "alice"); len(got) != 1 || !strings.Contains(got[0], "b is computing") {
		t.Errorf("got %v, want the task as its owner b tells it", got)
	}
}

// TestForeignPagesAreSkippedWithinBounds: a client is not led through pages that hold
// nothing for it, and one request does not read the whole list for it either.
func TestForeignPagesAreSkippedWithinBounds(t *testing.T) {
	b := start(t, setup{principals: true, upstreams: 1, server: func(s *mcptest.Server) { s.TasksPerPage = 1 }})
	for range 20 {
		b.makeCoreTask("", userHeader, "bob")
	}
	own := b.makeCoreTask("", userHeader, "alice")
	first := b.legacy("", "tasks/list", "", userHeader, "alice").taskPage(t)
	if len(first.Result.Tasks) != 0 || first.Result.NextCursor == "" || b.calls("tasks/list") != 8 {
		t.Errorf("got %d tasks after %d requests, want none after 8", len(first.Result.Tasks), b.calls("tasks/list"))
	}
	got, pages := b.listAll("", userHeader, "alice")
	if !slices.Equal(idsOf(got), []string{own}) || pages != 3 {
		t.Errorf("got %v on %d pages, want %v on 3", idsOf(got), pages, own)
	}
}

// TestStoreAwayMakesNoShorterList: whose a task is cannot be told then.
func TestStoreAwayMakesNoShorterList(t *testing.T) {
	var store *storage.Store
	b := start(t, setup{principals: true, with: func(s *storage.Store) { store = s }})
	b.makeCoreTask("", userHeader, "bob")
	b.makeCoreTask("", userHeader, "alice")
	_ = store.Close()
	r := b.legacy("", "tasks/list", "", userHeader, "alice")
	if r.status != 503 || r.code() != -31503 || r.parsed().Error.Data.Reason != "store_unavailable" {
		t.Errorf("got %v, want 503 store_unavailable", r)
	}
}

// TestListInALostSessionIsNotFound: what the session's owner says passes, so that the
// client begins anew.
func TestListInALostSessionIsNotFound(t *testing.T) {
	b := start(t, setup{principals: true, upstreams: 1, endpoint: func(ep *proxy.Endpoint) { ep.Router.Recover = true }})
	session := b.open("2025-11-25", userHeader, "alice")
	b.fleet[0].Restart()
	if r := b.legacy(session, "tasks/list", "", userHeader, "alice"); r.status != 404 {
		t.Errorf("got %v, want the instance's 404", r)
	}
}
