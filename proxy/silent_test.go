package proxy_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/proxy"
	"berth/routing"
)

// otherCaller is a caller to whom nothing was told of a task yet.
var otherCaller = []string{"Authorization", "Bearer other"}

// elapsed returns how much fake time do took.
func elapsed(do func()) time.Duration {
	started := time.Now()
	do()
	return time.Since(started)
}

// A frozen owner costs one caller ten seconds; who comes after need not wait.
func TestFrozenOwnerIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true, picker: new(routing.RoundRobin)})
		id, elsewhere := f.newTask(3600), f.newTask(3600)
		f.servers[0].freeze()
		if took := elapsed(func() {
			f.poll(id, otherCaller...).fails(t, http.StatusGatewayTimeout, -31504, "upstream_timeout", true)
		}); took != 10*time.Second {
			t.Errorf("the first poll took %v, want 10s", took)
		}
		for range 5 {
			if took := elapsed(func() {
				f.poll(id, otherCaller...).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			}); took != 0 {
				t.Errorf("a later poll took %v", took)
			}
			if took := elapsed(func() { f.poll(elsewhere) }); took != 0 {
				t.Errorf("another upstream's poll took %v", took)
			}
			time.Sleep(10 * time.Second)
		}
		f.servers[0].inject(nil)
		time.Sleep(3 * time.Second) // a probe gets through
		if r := f.poll(id, otherCaller...); r.message(t).Result == nil {
			t.Errorf("after the thaw got %d %s", r.status, r.body)
		}
	})
}

func TestSilentOwnersTaskIsToldAsLastSeenWithinItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id, core := f.newTask(3600), f.newCoreTask("", 3600)
		f.poll(id)
		f.servers[0].freeze()
		for i := range 3 {
			for _, r := range []reply{f.poll(id), f.legacy("", "tasks/get", byID(core))} {
				m := r.message(t)
				if m.Result == nil || m.Result.Status != "working" || !strings.Contains(m.Result.StatusMessage, "does not answer") {
					t.Errorf("poll %d got %d %s, want the task as last seen", i, r.status, r.body)
				}
			}
			for _, method := range []string{"tasks/update", "tasks/cancel"} {
				f.modern(method, id, byID(id)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			}
			f.legacy("", "tasks/result", byID(core)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			time.Sleep(5 * time.Second)
		}
		time.Sleep(31 * time.Second)
		f.poll(id).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		f.legacy("", "tasks/get", byID(core)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	})
}

// What one caller was told, another must not hear: without principals equal
// credentials are all that berth knows of who is calling.
func TestLastSeenTaskIsToldToItsCallerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id := f.newTask(0)
		time.Sleep(time.Second)
		f.poll(id, "Authorization", "Bearer mine")
		f.servers[0].kill()
		if r := f.poll(id, "Authorization", "Bearer mine"); r.message(t).Result == nil {
			t.Errorf("its caller got %d %s", r.status, r.body)
		}
		f.poll(id, otherCaller...).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		undeclared := message("tasks/get", byID(id)+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`)
		r := f.do(f.request(t.Context(), http.MethodPost, undeclared, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/get", "Mcp-Name", id, "Authorization", "Bearer mine"))
		if r.message(t).Error == nil {
			t.Errorf("a call without the capability got %s", r.body)
		}
	})
}

// With principals a fresh token is the same caller; nobody is not.
func TestLastSeenTaskIsToldToItsPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true, principals: true})
		mine := func(token string) []string { return []string{"X-User", "ann", "Authorization", token} }
		r := f.modern("tools/call", "slow_compute", slowCompute(0), mine("one")...)
		id := r.message(t).Result.TaskID
		nobodys := f.newTask(0)
		time.Sleep(time.Second)
		f.poll(id, mine("one")...)
		f.poll(nobodys, "Authorization", "one")
		f.servers[0].kill()
		if r := f.poll(id, mine("two")...); r.message(t).Result == nil {
			t.Errorf("with a fresh token got %d %s", r.status, r.body)
		}
		if r := f.poll(id, "X-User", "bob", "Authorization", "one"); r.message(t).Error == nil || r.message(t).Error.Code != -32602 {
			t.Errorf("another principal got %d %s", r.status, r.body)
		}
		if r := f.poll(nobodys, "Authorization", "two"); r.message(t).Error == nil {
			t.Errorf("nobody with other credentials got %d %s", r.status, r.body)
		}
	})
}

// An end outlives its owner, until the task's time to live.
func TestEndIsToldUntilItsTTLThoughTheOwnerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true, server: func(s *mcptest.Server) { s.TTL = 4 * time.Minute }})
		session := f.initialize()
		id := f.newTask(0)
		r := f.legacy(session, "tools/call", slowCompute(0)+`,"task":{"ttl":240000}`)
		core := r.message(t).Result.Task.TaskID
		time.Sleep(time.Second)
		ends := func() []reply {
			return []reply{f.poll(id), f.legacy(session, "tasks/get", byID(core)), f.legacy(session, "tasks/result", byID(core))}
		}
		seen := ends()
		f.servers[0].kill()
		for range 3 {
			for i, r := range ends() {
				if !sameJSON(r.body, seen[i].body) {
					t.Errorf("got %s, want what was seen, %s", r.body, seen[i].body)
				}
			}
			time.Sleep(time.Minute)
		}
		f.modern("tasks/cancel", id, byID(id)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		time.Sleep(time.Minute) // the task is older than its TTL now
		after := ends()
		after[0].fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		for _, r := range after[1:] {
			// The session went with the instance, and its client has to begin anew.
			if r.status != http.StatusNotFound {
				t.Errorf("in the session got %d %s, want 404", r.status, r.body)
			}
		}
	})
}

// sameJSON compares JSON texts.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// Two polls may overtake one another: an answer from before the end must not make
// berth forget the end.
func TestLatePollDoesNotUndoAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id := f.newTask(0)
		time.Sleep(time.Second)
		f.poll(id)
		f.servers[0].inject(onMethod("tasks/get", say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"`+id+`","status":"working","ttlMs":300000}}`)))
		f.poll(id)
		f.servers[0].kill()
		time.Sleep(time.Minute)
		if m := f.poll(id).message(t); m.Result == nil || m.Result.Status != "completed" {
			t.Errorf("got %+v, want the end", m)
		}
	})
}

// An end that is too long to be kept is not kept in part.
func TestLongEndIsNotToldAgain(t *testing.T) {
	for _, size := range []int{60 << 10, 70 << 10, 300 << 10} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{probe: true})
				id := f.newTask(3600)
				f.servers[0].inject(say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"`+id+`","status":"completed","x":"`+strings.Repeat("x", size)+`"}}`))
				seen := f.poll(id)
				f.servers[0].kill()
				r := f.poll(id)
				if size < 64<<10 {
					if !sameJSON(r.body, seen.body) {
						t.Errorf("got %d and %d bytes, want what was seen", r.status, len(r.body))
					}
					return
				}
				r.fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			})
		})
	}
}

// A core task's result that is too long does not take the task's state with it.
func TestLongResultLeavesTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		core := f.newCoreTask("", 0)
		time.Sleep(time.Second)
		f.legacy("", "tasks/get", byID(core))
		f.servers[0].inject(say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":"`+strings.Repeat("x", 70<<10)+`"}}`))
		f.legacy("", "tasks/result", byID(core))
		f.servers[0].kill()
		if m := f.legacy("", "tasks/get", byID(core)).message(t); m.Result == nil || m.Result.Status != "completed" {
			t.Errorf("got %+v", m)
		}
	})
}

// The ends that are kept have a bound in all; the oldest go first.
func TestEndsAreKeptWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true, options: func(o *proxy.Options) { o.LastSeen.Total = 20 << 10 }})
		var ids []string
		for range 40 {
			ids = append(ids, f.newTask(0))
		}
		time.Sleep(time.Second)
		for _, id := range ids {
			f.poll(id)
		}
		f.servers[0].kill()
		kept := 0
		for i, id := range ids {
			if f.poll(id).message(t).Result != nil {
				kept++
			} else if kept > 0 {
				t.Errorf("task %d is gone, an older one is not", i)
			}
		}
		if kept < 10 || kept > 30 {
			t.Errorf("%d of 40 ends of some 900 bytes kept in 20 KiB", kept)
		}
	})
}

// A poll that does not declare the extension is told so of a silent owner's task as well: the owner would say nothing else.
func TestUndeclaredPollOfASilentOwnersTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id := f.newTask(3600)
		f.servers[0].freeze()
		for range 2 {
			body := message("tasks/get", byID(id)+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
			r := f.do(f.request(t.Context(), http.MethodPost, body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/get", "Mcp-Name", id))
			if r.status != http.StatusBadRequest || r.code() != -32021 {
				t.Errorf("got %d %s", r.status, r.body)
			}
		}
	})
}
