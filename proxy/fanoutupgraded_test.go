package proxy_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/upgrade"
)

func taskless(s *mcptest.Server) { s.Taskless = true }

// listed are berths whose callers are told apart.
func listed(o rigOptions) rigOptions {
	o.principals, o.options = true, trustLoopback
	return o
}

// as makes a request as somebody, in a session unless that is "".
func (f *rig) as(who, session, method, params string) reply {
	f.t.Helper()
	return f.do(f.request(f.t.Context(), http.MethodPost, message(method, params), append(legacyHeader(session), userHeader, who)...))
}

// opens opens a session as somebody.
func (f *rig) opens(who string) string {
	f.t.Helper()
	return f.as(who, "", "initialize", `"protocolVersion":"2025-11-25"`).header.Get("Mcp-Session-Id")
}

// lists reads a list to its end, as somebody.
func (f *rig) lists(who, session string) (tasks []string, pages int) {
	f.t.Helper()
	for cursor := ""; ; {
		p := f.as(who, session, "tasks/list", cursorParam(cursor)).taskPage(f.t)
		for _, task := range p.Result.Tasks {
			tasks = append(tasks, string(task))
		}
		pages++
		if cursor = p.Result.NextCursor; cursor == "" || pages > 100 {
			return tasks, pages
		}
	}
}

// owns makes a task as somebody and has it end, unless lives.
func (f *coreRig) owns(who, session string, lives bool, change ...func(*upgrade.Creation)) string {
	f.t.Helper()
	id, call := f.made(session, append(change, func(c *upgrade.Creation) { c.Principal = who })...)
	if !lives {
		call.ends(`"result":{"content":[]}`)
	}
	time.Sleep(time.Millisecond) // they are listed in the order of their times
	return id
}

// What a caller can poll is on its list, whoever made the task of its call, and nothing
// else is: in a session, in another one, and without.
func TestListBearsTasksOfBerthsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, listed(rigOptions{server: func(s *mcptest.Server) { s.TasksPerPage = 1 }}), nil)
		f.servers[0].inject(nil)
		session, other := f.opens("alice"), f.opens("alice")
		theirs := func(who, session string) string {
			return f.as(who, session, "tools/call", slowCompute(60)+`,"task":{}`).message(t).Result.Task.TaskID
		}
		inSession := []string{theirs("alice", session), theirs("alice", session)}
		without := []string{theirs("alice", ""), theirs("alice", "")}
		theirs("bob", "")
		f.servers[0].inject(f.tool.serve)
		own := []string{f.owns("alice", session, true), f.owns("alice", "", false), f.owns("alice", other, true)}
		own = append(own, f.taskOf(f.callTool(userHeader, "alice")))
		(<-f.tool.calls).ends(`"error":{"code":1,"message":"x"}`)
		bobs := f.owns("bob", "", true)
		f.as("alice", "", "tasks/cancel", byID(own[2]))
		synctest.Wait()
		for in, theirs := range map[string][]string{session: inSession, other: nil, "": without} {
			got, _ := f.lists("alice", in)
			if !slices.Equal(sorted(idsOf(got)), sorted(append(slices.Clone(own), theirs...))) {
				t.Errorf("in %q: got %v, want %v and %v", in, idsOf(got), own, theirs)
			}
			for _, task := range got {
				id := idsOf([]string{task})[0]
				if polled := f.as("alice", "", "tasks/get", byID(id)); slices.Contains(own, id) && polled.body != response1(`"result":`+task) {
					t.Errorf("listed as %s, polled %v", task, polled)
				}
			}
		}
		if got, _ := f.lists("bob", ""); !slices.Contains(idsOf(got), bobs) || len(got) != 2 {
			t.Errorf("bob: got %v", got)
		}
		if got, _ := f.lists("mallory", ""); len(got) != 0 {
			t.Errorf("mallory: got %v", got)
		}
	})
}

// Where berth told the client of tasks the upstream has none, and is not asked.
func TestListInASessionWhereBerthAddedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, listed(rigOptions{server: taskless}), nil)
		session := f.opens("alice")
		id := f.owns("alice", session, true)
		if got, _ := f.lists("alice", session); !slices.Equal(idsOf(got), []string{id}) {
			t.Errorf("got %v, want %s", got, id)
		}
		if n := f.calls("tasks/list"); n != 0 {
			t.Errorf("the upstream was asked %d times", n)
		}
		f.servers[0].kill()
		if got, _ := f.lists("alice", session); !slices.Equal(idsOf(got), []string{id}) {
			t.Errorf("without the upstream: got %v, want %s", got, id)
		}
	})
}

// An upstream that has no lists has an empty one beside berth's own; what it refuses
// otherwise stays its word.
func TestUpstreamWithoutListsHasAnEmptyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, listed(rigOptions{size: 3}), nil)
		for i, s := range f.servers {
			none := say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
			if i > 0 {
				s.inject(first(onMethod("tasks/list", none), f.tool.serve))
			}
		}
		id := f.owns("alice", "", true)
		if got, _ := f.lists("alice", ""); !slices.Equal(idsOf(got), []string{id}) {
			t.Errorf("got %v, want %s", got, id)
		}
		for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized} {
			for _, s := range f.servers {
				s.inject(first(onMethod("tasks/list", sayStatus(status, jsonType, `{}`)), f.tool.serve))
			}
			if r := f.as("alice", "", "tasks/list", ""); r.status != status {
				t.Errorf("where all say %d: got %v", status, r)
			}
		}
	})
}

// What servers with sessions hold is in these; without one there are berth's own tasks to
// list, whether some of the upstreams demand a session or all.
func TestListWithoutASessionBearsTasksOfBerthsOwn(t *testing.T) {
	for demanding := 1; demanding <= 2; demanding++ {
		synctest.Test(t, func(t *testing.T) {
			f := newCoreRig(t, listed(rigOptions{size: 2, server: func(s *mcptest.Server) { s.SessionOptional = s.Name >= string(rune('a'+demanding)) }}), nil)
			for _, s := range f.servers[1:] {
				s.inject(nil)
			}
			id := f.owns("alice", "", true)
			f.servers[0].inject(nil)
			if got, _ := f.lists("alice", ""); !slices.Equal(idsOf(got), []string{id}) {
				t.Errorf("where %d of 2 demand a session: got %v, want %s", demanding, got, id)
			}
			if got, _ := f.lists("bob", ""); len(got) != 0 {
				t.Errorf("another's: got %v, want none", got)
			}
		})
	}
}

// Where nobody is told apart a list would show everybody's tasks.
func TestNoListOfTasksOfBerthsOwnWithoutPrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{server: taskless}, nil)
		session := f.initialize()
		f.made(session)
		if r := f.legacy(session, "tasks/list", ""); r.status != 200 || r.code() != -32601 {
			t.Errorf("got %v", r)
		}
		if n := f.calls("tasks/list"); n != 0 {
			t.Errorf("the upstream was asked %d times", n)
		}
		if r := f.legacy("", "tasks/list", ""); r.code() != -32601 {
			t.Errorf("without a session: got %v, want what all upstreams say", r)
		}
		g := newCoreRig(t, rigOptions{}, nil)
		session = g.initialize()
		id, _ := g.made(session)
		if r := g.legacy(session, "tasks/list", ""); r.status != 200 || r.code() != 0 || strings.Contains(r.body, id) {
			t.Errorf("of an upstream with tasks: got %v", r)
		}
	})
}

// Many tasks are many pages, each task once; cursors tell nobody of them, and are their
// caller's.
func TestPagesOfTasksOfBerthsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, listed(rigOptions{server: taskless}), nil)
		session := f.opens("alice")
		var want []string
		for i := range 250 {
			want = append(want, f.owns("alice", session, false, func(c *upgrade.Creation) {
				if i < 100 {
					c.TTL = time.Minute
				}
			}))
		}
		got, pages := f.lists("alice", session)
		if !slices.Equal(idsOf(got), want) || pages != 3 {
			t.Errorf("got %d tasks on %d pages", len(got), pages)
		}
		cursor := f.as("alice", session, "tasks/list", "").taskPage(t).Result.NextCursor
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || strings.Contains(string(raw)+cursor, want[99]) {
			t.Errorf("got the cursor %q, %v", cursor, err)
		}
		for _, bad := range []reply{f.as("bob", "", "tasks/list", cursorParam(cursor)), f.as("alice", session, "tasks/list", cursorParam(want[99]))} {
			if bad.status != 200 || bad.code() != -32602 {
				t.Errorf("not its cursor: got %v", bad)
			}
		}
		time.Sleep(2 * time.Minute) // all of the first page expire
		page := f.as("alice", session, "tasks/list", cursorParam(cursor)).taskPage(t)
		var ids []string
		for _, task := range page.Result.Tasks {
			ids = append(ids, idsOf([]string{string(task)})...)
		}
		if !slices.Equal(ids, want[100:200]) {
			t.Errorf("behind what has expired: got %d tasks", len(ids))
		}
	})
}

// While the store is away nobody can say what there is.
func TestListWithoutTheStoreIsAnError(t *testing.T) {
	store := openStore(t, "memory:")
	f := newCoreRig(t, listed(rigOptions{server: taskless, store: store}), nil)
	session := f.opens("alice")
	store.Close()
	for _, in := range []string{session, ""} {
		if r := f.as("alice", in, "tasks/list", ""); r.status != http.StatusServiceUnavailable {
			t.Errorf("in %q: got %v", in, r)
		}
	}
}
