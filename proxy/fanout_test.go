package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/mcptest"
)

// taskPage is a page of a list as a client reads it.
type taskPage struct {
	Result struct {
		Tasks      []json.RawMessage
		NextCursor string
	}
}

func (r reply) taskPage(t testing.TB) taskPage {
	t.Helper()
	var p taskPage
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || r.status != 200 || p.Result.Tasks == nil {
		t.Fatalf("no page: %v", r)
	}
	return p
}

func cursorParam(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf(`"cursor":%q`, cursor)
}

// listAll reads a list to its end and returns its tasks and how many pages it had.
func (b *berth) listAll(session string, header ...string) (tasks []string, pages int) {
	b.t.Helper()
	for cursor := ""; ; {
		p := b.legacy(session, "tasks/list", cursorParam(cursor), header...).taskPage(b.t)
		for _, task := range p.Result.Tasks {
			tasks = append(tasks, string(task))
		}
		pages++
		if cursor = p.Result.NextCursor; cursor == "" || pages > 100 {
			return tasks, pages
		}
	}
}

func idsOf(tasks []string) []string {
	ids := make([]string, len(tasks))
	for i, raw := range tasks {
		var task struct{ TaskID string }
		_ = json.Unmarshal([]byte(raw), &task) // what is no task has no id
		ids[i] = task.TaskID
	}
	return ids
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func (b *berth) makeCoreTask(session string, header ...string) string {
	b.t.Helper()
	r := b.legacy(session, "tools/call", slowTool+`,"task":{"ttl":60000}`, header...)
	if id := r.lastEvent().parsed().Result.Task.TaskID; id != "" {
		return id
	}
	b.t.Fatalf("no task: %v", r)
	return ""
}

// TestListOfTasksIsTheWholePools: every task once, whoever holds it and however its
// instance answers, as the instance wrote it.
func TestListOfTasksIsTheWholePools(t *testing.T) {
	for name, set := range map[string]func(*mcptest.Server){
		"JSON":            func(*mcptest.Server) {},
		"events":          func(s *mcptest.Server) { s.SSE = true },
		"pages of two":    func(s *mcptest.Server) { s.TasksPerPage = 2 },
		"events of pages": func(s *mcptest.Server) { s.SSE, s.TasksPerPage = true, 1 },
	} {
		b := start(t, setup{server: set, pool: inTurn})
		var want []string
		for range 7 {
			want = append(want, b.makeCoreTask(""))
		}
		got, pages := b.listAll("")
		if !slices.Equal(sorted(idsOf(got)), sorted(want)) {
			t.Errorf("%s: got %v, want %v", name, idsOf(got), want)
		}
		if b.fleet[0].TasksPerPage > 0 && pages < 2 {
			t.Errorf("%s: got %d pages", name, pages)
		}
		for i := range b.fleet {
			direct := fetch(t, http.MethodPost, b.urls[i], message("tasks/list", ""), "Mcp-Protocol-Version", "2025-11-25").lastEvent().taskPage(t)
			for _, task := range direct.Result.Tasks {
				if !slices.Contains(got, string(task)) {
					t.Errorf("%s: the list lacks %s as its instance writes it", name, task)
				}
			}
		}
	}
}

// TestListOfTasksIsAboutNoTask: what else stands in its params does not make it the list
// of one task's owner.
func TestListOfTasksIsAboutNoTask(t *testing.T) {
	b := start(t, setup{pool: inTurn})
	want := []string{b.makeCoreTask(""), b.makeCoreTask(""), b.makeCoreTask("")}
	for _, id := range []string{want[0], "nobody-knows-it", ""} {
		page := b.legacy("", "tasks/list", fmt.Sprintf(`"taskId":%q`, id)).taskPage(t)
		if len(page.Result.Tasks) != len(want) {
			t.Errorf("with the task %q: got %d tasks, want %d", id, len(page.Result.Tasks), len(want))
		}
	}
}

// lastEvent is r as if its last event were its body, where it has events.
func (r reply) lastEvent() reply {
	if strings.HasPrefix(r.header.Get("Content-Type"), eventsType) {
		events := eventsIn(r.body)
		r.body = events[len(events)-1]
	}
	return r
}

// TestListInASessionIsItsOwners: the session decides, and the answer is not touched.
func TestListInASessionIsItsOwners(t *testing.T) {
	b := start(t, setup{pool: inTurn})
	session := b.open("2025-11-25")
	own := b.makeCoreTask(session)
	b.makeCoreTask("")
	r := b.legacy(session, "tasks/list", "")
	direct := fetch(t, http.MethodPost, b.urls[0], message("tasks/list", ""), "Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", session)
	if r.body != direct.body || !strings.Contains(r.body, own) {
		t.Errorf("got %v, want %v", r, direct)
	}
	if b.fleet[1].Calls("tasks/list")+b.fleet[2].Calls("tasks/list") != 0 {
		t.Error("other instances were asked")
	}
}

// TestThereIsNoListInTheModernEraNorInABatch: with principals nobody is asked, since
// an upstream that has one all the same would name everybody's tasks.
func TestThereIsNoListInTheModernEraNorInABatch(t *testing.T) {
	b := start(t, setup{principals: true})
	session := b.open("2025-11-25", userHeader, "alice")
	batch := "[" + message("ping", "") + "," + message("tasks/list", "") + "]"
	before := b.contacted()
	for name, r := range map[string]reply{
		"modern":             b.modern("tasks/list", "", "", userHeader, "alice"),
		"batch":              b.post(batch, userHeader, "alice"),
		"batch of one":       b.post("["+message("tasks/list", "")+"]", userHeader, "alice").only(t),
		"batch in a session": b.post(batch, userHeader, "alice", "Mcp-Session-Id", session),
	} {
		if r.status != 404 || r.code() != -32601 {
			t.Errorf("%s: got %v, want 404 -32601", name, r)
		}
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	open := start(t, setup{})
	if r := open.post(batch); r.status != 404 || r.code() != -32601 {
		t.Errorf("batch without principals: got %v, want 404 -32601", r)
	}
	if r := open.modern("tasks/list", "", ""); r.status != 404 || r.code() != -32601 || open.contacted() != 1 {
		t.Errorf("modern without principals: got %v, want the upstream's 404", r)
	}
}

// TestCursorIsGoodForThisListOnly: it cannot be made up, changed, carried to another
// pool, or used once the pool's upstreams are others.
func TestCursorIsGoodForThisListOnly(t *testing.T) {
	paged := func(s *mcptest.Server) { s.TasksPerPage = 1 }
	b := start(t, setup{server: paged, pool: inTurn})
	other := start(t, setup{server: paged, pool: inTurn})
	for range 6 {
		b.makeCoreTask("")
	}
	first := b.legacy("", "tasks/list", "").taskPage(t)
	cursor := first.Result.NextCursor
	if cursor == "" {
		t.Fatal("no cursor")
	}
	before := b.contacted()
	// One bit of a letter is another letter; where it is not, the form is broken.
	for name, forged := range map[string]string{
		"made up": "1", "an id": idsOf([]string{string(first.Result.Tasks[0])})[0], "changed": cursor[:50] + string(cursor[50]^1) + cursor[51:], "cut": cursor[:40],
	} {
		if r := b.legacy("", "tasks/list", cursorParam(forged)); r.status != 200 || r.code() != -32602 {
			t.Errorf("%s: got %v, want -32602", name, r)
		}
	}
	for _, no := range []string{`7`, `null`, `{}`, `["1"]`, `true`} {
		if r := b.legacy("", "tasks/list", `"cursor":`+no); r.status != 200 || r.code() != -32602 {
			t.Errorf("no string, %s: got %v, want -32602", no, r)
		}
	}
	if b.contacted() != before {
		t.Error("upstreams heard of a forged cursor")
	}
	if r := other.legacy("", "tasks/list", cursorParam(cursor)); r.code() != -32602 {
		t.Errorf("at another deployment: got %v, want -32602", r)
	}
	b.fleet[1].Restart()
	if r := b.legacy("", "tasks/list", cursorParam(cursor)); r.status != 200 || r.code() != -32602 {
		t.Errorf("an instance has lost the place: got %v, want -32602", r)
	}
}

// TestEndlessCursorIsRefused: a list that stands still would never end.
func TestEndlessCursorIsRefused(t *testing.T) {
	b := start(t, setup{upstreams: 1, server: func(s *mcptest.Server) {
		s.Intercept = say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"nextCursor":"x"}}`)
	}})
	r := b.legacy("", "tasks/list", "")
	if r.status != 502 || r.parsed().Error.Data.Reason != "bad_upstream_response" || b.contacted() > 3 {
		t.Errorf("got %v after %d requests", r, b.contacted())
	}
}

// TestLongListGoesOnWithTheNextPage: what does not fit is not lost, and asked for again.
func TestLongListGoesOnWithTheNextPage(t *testing.T) {
	b := start(t, setup{server: func(s *mcptest.Server) {
		task := fmt.Sprintf(`{"taskId":"of-%s","x":%q}`, s.Name, strings.Repeat("x", 1900<<10))
		s.Intercept = say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[`+task+`]}}`)
	}})
	got, pages := b.listAll("")
	if ids := sorted(idsOf(got)); !slices.Equal(ids, []string{"of-a", "of-b", "of-c"}) || pages != 2 {
		t.Errorf("got %v on %d pages", ids, pages)
	}
}

// TestSharedTasksAreListedOnce: instances over one database each list all of it.
func TestSharedTasksAreListedOnce(t *testing.T) {
	b := start(t, setup{server: func(s *mcptest.Server) {
		s.Intercept = say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"1"},{"taskId":"2"}]}}`)
	}})
	if got, _ := b.listAll(""); !slices.Equal(idsOf(got), []string{"1", "2"}) {
		t.Errorf("got %v, want each once", got)
	}
}

// TestListIsRecorded: one record of the request, and a span for each instance.
func TestListIsRecorded(t *testing.T) {
	b := start(t, setup{})
	b.legacy("", "tasks/list", "")
	r := b.record()
	if r["source"] != "fanout" || r["outcome"] != "ok" || r["method"] != "tasks/list" || r["upstream"] != nil {
		t.Errorf("got %v", r)
	}
	clients := 0
	for _, span := range b.spans.Ended() {
		if span.SpanKind().String() == "client" {
			clients++
		}
	}
	if clients != 3 {
		t.Errorf("got %d spans of exchanges, want 3", clients)
	}
}

// TestListAsksAsTheClientDid: but for the cursor, which is the instance's own.
func TestListAsksAsTheClientDid(t *testing.T) {
	var bodies []string
	b := start(t, setup{upstreams: 1, server: func(s *mcptest.Server) {
		s.TasksPerPage = 1
		s.Intercept = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) == "tasks/list" {
				bodies = append(bodies, string(body)+" "+r.Header.Get("X-Own"))
			}
			return false
		}
	}})
	id := b.makeCoreTask("")
	b.makeCoreTask("")
	cursor := b.post(`{"jsonrpc":"2.0", "id":1.0,"method":"tasks/list","params":{"x": [ ]}}`, "X-Own", "1").taskPage(t).Result.NextCursor
	b.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"é","method":"tasks/list","params":{"cursor":%q,"x": [ ]}}`, cursor), "X-Own", "2")
	want := []string{
		`{"jsonrpc":"2.0", "id":1.0,"method":"tasks/list","params":{"x": [ ]}} 1`,
		`{"jsonrpc":"2.0","id":"é","method":"tasks/list","params":{"cursor":"` + id + `","x": [ ]}} 2`,
	}
	if !slices.Equal(bodies, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(bodies, "\n"), strings.Join(want, "\n"))
	}
}
