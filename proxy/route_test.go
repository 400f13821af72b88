package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// pageOf answers with the name of the instance and a cursor to go on from.
func pageOf(name, member string) faultFunc {
	return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"`+member+`":"next","structuredContent":{"instance":"`+name+`"}}}`)
}

// Whoever issued a cursor or a requestState can most likely read it; but where it
// is gone, another may.
func TestContinuationsPreferTheirIssuer(t *testing.T) {
	for _, c := range []struct{ method, name, params, member, next string }{
		{"tools/list", "", "", "nextCursor", `"cursor":"next"`},
		{"tools/call", "work", `"name":"work"`, "requestState", `"name":"work","requestState":"next"`},
	} {
		t.Run(c.member, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
				for _, s := range f.servers {
					s.inject(pageOf(s.Name, c.member))
				}
				served := func(params string) string {
					return f.modern(c.method, c.name, params).message(t).Result.StructuredContent.Instance
				}
				if got := served(c.params); got != "a" {
					t.Fatalf("the first page came from %s", got)
				}
				for range 2 {
					if got := served(c.next); got != "a" {
						t.Errorf("the next page came from %s, want its issuer", got)
					}
				}
				if got := served(c.params); got != "b" {
					t.Errorf("unbound work went to %s, want the picker's choice", got)
				}
				f.poll("anything") // b and c learn nothing from it
				f.servers[1].kill()
				time.Sleep(5 * time.Second)
				if got := served(c.next); got == "b" || got == "" {
					t.Errorf("without its issuer the next page came from %q", got)
				}
			})
		})
	}
}

// Of what the Tasks extension has no method for, berth says so, whichever task is named; an owner speaks for itself, and so
// does a revision to come.
func TestTaskMethodThatTheExtensionLacks(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.Tools = []string{"work"} })
	theirs := f.newTask(60)
	f.serves(map[string]faultFunc{"tools/call": sayResult(done), "tasks/pause": sayResult(`{"resultType":"complete"}`)})
	own := f.made()
	for _, method := range []string{"tasks/delete", "tasks/pause", "tasks/result"} {
		for _, id := range []string{own, "nobodys", ""} {
			for _, meta := range []string{tasksMeta, undeclaredMeta} {
				r := f.do(f.request(t.Context(), http.MethodPost, message(method, byID(id)+","+meta), modernHeader(method, id)...))
				if r.status != http.StatusNotFound || r.code() != -32601 {
					t.Errorf("%s of %q: got %v, want 404 -32601", method, id, r)
				}
			}
		}
	}
	if r := f.modern("tasks/pause", theirs, byID(theirs)); r.message(t).Result == nil {
		t.Errorf("of a server's own task: got %v", r)
	}
	later := strings.ReplaceAll(modernMessage("tasks/pause", byID("nobodys")), "2026-07-28", "2027-01-01")
	if r := f.do(f.request(t.Context(), http.MethodPost, later, "Mcp-Protocol-Version", "2027-01-01", "Mcp-Method", "tasks/pause", "Mcp-Name", "nobodys")); r.status != http.StatusOK || r.code() != -32602 {
		t.Errorf("in a revision to come: got %v", r)
	}
}

// A draining upstream gets no new work and keeps what it owns, while it answers.
func TestDrainingOwnerIsStillAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first *routing.Upstream
		f := newRig(t, rigOptions{probe: true, upstream: func(i int, u *routing.Upstream) {
			if i == 0 {
				first = u
			}
		}})
		id := f.newTask(3600)
		first.Draining = true
		if r := f.poll(id); r.message(t).Result == nil || f.servers[0].Calls("tasks/get") != 1 {
			t.Errorf("poll got %d %s", r.status, r.body)
		}
		if r := f.modern("tools/call", "who", `"name":"who"`); r.message(t).Result.StructuredContent.Instance != "b" {
			t.Errorf("new work got %s", r.body)
		}
		f.servers[0].kill()
		if m := f.poll(id).message(t); m.Result == nil || !strings.Contains(m.Result.StatusMessage, "does not answer") {
			t.Errorf("without its owner the task is told as %+v", m)
		}
	})
}

// An owner that is not in the pool any more may be there under another name; if
// nobody knows the task, it is out of reach and not unknown.
func TestRemovedOwnersTaskIsOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		renamed := f.newTask(3600)
		for _, id := range []string{renamed, "lost"} {
			key := f.router.TaskKey("", id)
			f.bindings.Unbind(t.Context(), key)
			if err := f.bindings.Bind(t.Context(), key, sticky.Binding{Upstream: "z"}, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if r := f.poll(renamed); r.message(t).Result == nil || f.owner(renamed) != "a" {
			t.Errorf("got %d %s, owner %q", r.status, r.body, f.owner(renamed))
		}
		f.poll("lost").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	})
}

func TestFailingUpstreamIsEjectedAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		busy := faultFunc(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return true
		})
		f.servers[0].inject(busy)
		failed := 0
		for range 20 {
			if f.modern("tools/call", "who", `"name":"who"`).status == http.StatusServiceUnavailable {
				failed++
			}
		}
		if failed != 5 {
			t.Errorf("%d calls failed before the ejection, want 5", failed)
		}
		f.servers[1].inject(busy)
		for range 20 {
			f.modern("tools/call", "who", `"name":"who"`)
		}
		if f.pool.Find("b").Ejected() {
			t.Error("two of three upstreams are ejected")
		}
		f.servers[0].inject(nil)
		time.Sleep(6 * time.Second)
		if r := f.modern("tools/call", "who", `"name":"who"`); r.status != http.StatusOK || r.message(t).Result.StructuredContent.Instance != "a" {
			t.Errorf("after its ejection got %d %s", r.status, r.body)
		}
	})
}

// What a server says at 200 is its answer, not a failure of its transport.
func TestErrorAnswersDoNotEject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`))
		for range 20 {
			f.modern("tools/call", "who", `"name":"who"`)
		}
		if f.servers[0].Calls("tools/call") != 20 {
			t.Errorf("%d of 20 calls reached a", f.servers[0].Calls("tools/call"))
		}
	})
}

// How long an answer's header may take goes by what was asked.
func TestPatienceGoesByTheMethod(t *testing.T) {
	const forEver = 3 * time.Hour // what the upstream takes
	for _, c := range []struct {
		method string
		want   time.Duration
	}{
		{"tools/list", 10 * time.Second},
		{"resources/read", 10 * time.Second},
		{"server/discover", 10 * time.Second},
		{"logging/setLevel", 30 * time.Second},
		{"tools/call", forEver},
		{"subscriptions/listen", 30 * time.Second},
		{"something/new", forEver},
	} {
		t.Run(c.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1})
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					select {
					case <-time.After(forEver):
					case <-r.Context().Done():
					}
					return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{}}`)(w, r, body)
				})
				var r reply
				if took := elapsed(func() { r = f.modern(c.method, "", `"name":"who"`) }); took != c.want {
					t.Errorf("waited %v, want %v", took, c.want)
				}
				if (r.status == http.StatusGatewayTimeout) != (c.want < forEver) {
					t.Errorf("got %d %s", r.status, r.body)
				}
			})
		})
	}
}

// What the map and the fleet forgot is told as it was last seen: within the grace,
// or for good if that was the task's end.
func TestLostTaskIsToldAsLastSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		ended, working := f.newTask(0), f.newTask(3600)
		time.Sleep(time.Second)
		f.poll(ended)
		f.poll(working)
		f.servers[0].Restart()
		f.bindings.Unbind(t.Context(), f.router.TaskKey("", ended))
		f.bindings.Unbind(t.Context(), f.router.TaskKey("", working))
		if err := f.bindings.Bind(t.Context(), f.router.TaskKey("", working), sticky.Binding{Upstream: "z"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if m := f.poll(ended).message(t); m.Result == nil || m.Result.Status != "completed" {
			t.Errorf("the ended task is told as %+v", m)
		}
		if m := f.poll(working).message(t); m.Result == nil || !strings.Contains(m.Result.StatusMessage, "does not answer") {
			t.Errorf("the working task is told as %+v", m)
		}
		time.Sleep(31 * time.Second)
		f.poll(working).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	})
}
