package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/proxy"
)

// firstDraft turns the first draft on.
func firstDraft(ep *proxy.Endpoint) { ep.FirstDraft = true }

// newDraftRig is a rig that knows the first draft.
func newDraftRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	before := o.endpoint
	o.endpoint = func(ep *proxy.Endpoint) {
		firstDraft(ep)
		if before != nil {
			before(ep)
		}
	}
	return newRig(t, o)
}

// draftMeta is how the first draft turns a request into a task of the client's id.
func draftMeta(id string) string {
	return fmt.Sprintf(`,"_meta":{"modelcontextprotocol.io/task":{"taskId":%q,"keepAlive":60000}}`, id)
}

// draftTask makes a task of the client's id and returns when it has ended.
func (f *rig) draftTask(id string) reply {
	f.t.Helper()
	return f.legacy("", "tools/call", slowCompute(0)+draftMeta(id))
}

func (f *rig) draftPoll(id string) reply { f.t.Helper(); return f.legacy("", "tasks/get", byID(id)) }

// refusedWith fails the test unless the answer is an error with that code.
func (r reply) refusedWith(t *testing.T, code int) {
	t.Helper()
	if m := r.message(t); m.Error == nil || m.Error.Code != code {
		t.Errorf("got %d %s, want the error %d", r.status, r.body, code)
	}
}

// The client made the id: from the call on, whoever asks for it is led to the instance
// that got the call, and nobody else is asked.
func TestClientsTaskIsFoundWhileItsCallIsUnderWay(t *testing.T) {
	for _, sse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newDraftRig(t, rigOptions{server: func(s *mcptest.Server) { s.SSE = sse }})
			ended := make(chan reply, 1)
			go func() { ended <- f.legacy("", "tools/call", slowCompute(30)+draftMeta("mine")) }()
			synctest.Wait()
			for range 5 {
				if m := f.draftPoll("mine").message(t); m.Result == nil || m.Result.Status != "working" {
					t.Errorf("poll: got %+v, want working", m)
				}
			}
			f.legacy("", "tasks/result", byID("mine")).refusedWith(t, -32602)
			if got := f.owner("mine"); got != "a" {
				t.Errorf("bound to %q, want a", got)
			}
			if m := (<-ended).message(t); m.Result == nil || m.Result.StructuredContent.Instance != "a" {
				t.Errorf("the call: got %+v, want a's result", m)
			}
			if m := f.legacy("", "tasks/result", byID("mine")).message(t); m.Result == nil || m.Result.StructuredContent.Instance != "a" {
				t.Errorf("tasks/result: got %+v, want a's", m)
			}
			for _, s := range f.servers[1:] {
				if s.Calls("tools/call")+s.Calls("tasks/get")+s.Calls("tasks/result") != 0 {
					t.Errorf("%s was asked", s.Name)
				}
			}
		})
	}
}

// A poll that overtakes the call must not lose the route.
func TestEarlyPollKeepsTheRouteOfAClientsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDraftRig(t, rigOptions{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if strings.Contains(string(body), "tools/call") {
				time.Sleep(time.Second) // begins late
			}
			return false
		})
		ended := make(chan reply, 1)
		go func() { ended <- f.draftTask("mine") }()
		synctest.Wait()
		f.draftPoll("mine").refusedWith(t, -32602)
		if got := f.owner("mine"); got != "a" {
			t.Errorf("bound to %q after an early poll, want a", got)
		}
		<-ended
		if m := f.draftPoll("mine").message(t); m.Result == nil || m.Result.Status != "completed" {
			t.Errorf("poll: got %+v, want completed", m)
		}
	})
}

// Nobody can have seen a task whose call was refused a connection: its binding goes
// along to the next instance, and is given up if there is none.
func TestClientsTaskMovesOnFromARefusedConnection(t *testing.T) {
	f := newDraftRig(t, rigOptions{tcp: true})
	f.servers[0].kill()
	if m := f.draftTask("mine").message(t); m.Result == nil || m.Result.StructuredContent.Instance != "b" {
		t.Fatalf("got %+v, want b's result", m)
	}
	if got := f.owner("mine"); got != "b" {
		t.Errorf("bound to %q, want b", got)
	}
	if m := f.draftPoll("mine").message(t); m.Result == nil {
		t.Errorf("poll: got %+v", m)
	}
	f.servers[1].kill()
	f.servers[2].kill()
	f.outbound.Close()
	f.draftTask("other").fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
	f.eventually("the id is free again", func() bool { return f.owner("other") == "" })
}

// What may have arrived is nobody else's, for the minutes in which its owner may tell.
func TestClientsTaskStaysWhereItsCallBroke(t *testing.T) {
	f := newDraftRig(t, rigOptions{tcp: true})
	f.servers[0].inject(onlyOnce(reset))
	f.draftTask("mine").fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
	binding, _, err := f.bindings.Lookup(t.Context(), f.router.TaskKey("", "mine"))
	if left := time.Until(binding.Expires); err != nil || binding.Upstream != "a" || left < time.Minute || left > 10*time.Minute {
		t.Errorf("bound to %q until %v, %v; want a, for minutes", binding.Upstream, binding.Expires, err)
	}
	// The same id again: the owner says what that means, though it takes no new work.
	f.pool.Upstreams()[0].Draining = true
	if m := f.draftTask("mine").message(t); m.Result == nil || m.Result.StructuredContent.Instance != "a" {
		t.Errorf("again: got %+v, want a's result", m)
	}
	f.draftTask("mine").refusedWith(t, -32602)
	if got := f.calls("tools/call"); got != f.servers[0].Calls("tools/call") {
		t.Errorf("calls: got %d in all, %d at the owner", got, f.servers[0].Calls("tools/call"))
	}
}

// An augmented read is work: once it may have arrived it is not sent elsewhere.
func TestReadThatMakesATaskIsNotRepeated(t *testing.T) {
	f := newDraftRig(t, rigOptions{tcp: true})
	f.servers[0].inject(reset)
	f.legacy("", "prompts/get", `"name":"p"`+draftMeta("mine")).fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
	if got := f.calls("prompts/get"); got != 1 {
		t.Errorf("sent %d times, want once", got)
	}
}

// An id that is bound goes to its owner, also to one that the picker would not take.
func TestBoundClientsIDGoesToItsOwner(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	id := f.newTask(3600) // at a
	for _, u := range f.pool.Upstreams() {
		u.Draining = true
	}
	if r := f.draftTask(id); f.servers[0].Calls("tools/call") != 2 {
		t.Errorf("got %d %s, want the owner's answer", r.status, r.body)
	}
	f.pool.Upstreams()[1].Draining = false
	if m := f.draftTask("mine").message(t); m.Result == nil || m.Result.StructuredContent.Instance != "b" {
		t.Errorf("a new id: got %+v, want b's result", m)
	}
}

// With a session the session decides, and the task is bound all the same.
func TestClientsTaskInASession(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	session := f.initialize() // at a
	f.pool.Upstreams()[0].Draining = true
	r := f.legacy(session, "tools/call", slowCompute(0)+draftMeta("mine"))
	if m := r.message(t); m.Result == nil || m.Result.StructuredContent.Instance != "a" {
		t.Fatalf("got %d %s, want a's result", r.status, r.body)
	}
	if got := f.owner("mine"); got != "a" {
		t.Errorf("bound to %q, want a", got)
	}
}

// The same id of two callers is two tasks, and none of either is seen by the other.
func TestClientsTaskIsItsPrincipals(t *testing.T) {
	b := start(t, setup{principals: true, endpoint: firstDraft})
	create := func(user string) reply {
		return b.post(message("tools/call", slowCompute(0)+draftMeta("mine")), userHeader, user)
	}
	poll := func(user string) int { return b.post(message("tasks/get", byID("mine")), userHeader, user).code() }
	create("alice")
	if got := poll("alice"); got != 0 {
		t.Errorf("alice's poll: got the error %d", got)
	}
	if got := poll("bob"); got != -32602 {
		t.Errorf("bob's poll: got %d, want -32602", got)
	}
}

func TestUnfitClientsIDIsRefused(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	for _, id := range []string{"", strings.Repeat("x", 257), "a\tb"} {
		f.draftTask(id).refusedWith(t, -32602)
	}
	if got := f.calls("tools/call"); got != 0 {
		t.Errorf("calls that reached the fleet: got %d, want none", got)
	}
}

// A deleted task is forgotten here as well: not even its end is told any more.
func TestDeletedTaskIsForgotten(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	f.draftTask("mine")
	f.draftPoll("mine")
	f.legacy("", "tasks/result", byID("mine"))
	if m := f.legacy("", "tasks/delete", byID("mine")).message(t); m.Result == nil {
		t.Fatalf("tasks/delete: got %+v", m)
	}
	if got := f.owner("mine"); got != "" {
		t.Errorf("bound to %q after its deletion", got)
	}
	f.draftPoll("mine").refusedWith(t, -32602)
	f.legacy("", "tasks/result", byID("mine")).refusedWith(t, -32602)
}

// A server may refuse to delete: then nothing is forgotten.
func TestRefusedDeletionForgetsNothing(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	f.draftTask("mine")
	f.draftPoll("mine")
	f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if !strings.Contains(string(body), "tasks/delete") {
			return false
		}
		w.Header().Set("Content-Type", jsonType)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"not while it runs"}}`)
		return true
	})
	f.legacy("", "tasks/delete", byID("mine")).refusedWith(t, -32602)
	if got := f.owner("mine"); got != "a" {
		t.Errorf("bound to %q, want a", got)
	}
}

// In this draft a task is cancelled by a notification, which names it.
func TestCancellationOfAClientsTaskReachesItsOwner(t *testing.T) {
	f := newDraftRig(t, rigOptions{})
	go f.client.Do(f.legacyRequest(t.Context(), "", "tools/call", slowCompute(3600)+draftMeta("mine")))
	f.eventually("the task is bound, and made", func() bool { return f.owner("mine") == "a" && f.servers[0].Executions() == 1 })
	f.pool.Upstreams()[0].Draining = true // no unbound work
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"mine"}}}}`
	f.do(f.request(t.Context(), http.MethodPost, cancel, legacyHeader("")...))
	if m := f.draftPoll("mine").message(t); m.Result == nil || m.Result.Status != "cancelled" {
		t.Errorf("poll: got %+v, want cancelled", m)
	}
}

// keepAlive counts from the end of the task: a result that was seen outlives its owner
// for so long, and no longer.
func TestClientsTaskIsToldForItsKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keep = time.Hour
		f := newDraftRig(t, rigOptions{server: func(s *mcptest.Server) { s.TTL = keep }})
		f.draftTask("mine")
		time.Sleep(30 * time.Minute)
		f.draftPoll("mine")
		f.servers[0].kill()
		time.Sleep(keep - time.Minute)
		if m := f.draftPoll("mine").message(t); m.Result == nil || m.Result.Status != "completed" {
			t.Errorf("within keepAlive: got %+v, want completed", m)
		}
		time.Sleep(2 * time.Minute)
		f.draftPoll("mine").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	})
}

// In a session that moves, the task is bound where the session goes.
func TestClientsTaskMovesWithItsSession(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			f := newDraftRig(t, reinit(rigOptions{tcp: true}))
			session := f.initialize() // at a
			f.furnish(session)
			lose(f, f.servers[0])
			r := f.legacy(session, "tools/call", slowCompute(0)+draftMeta("mine"))
			if m := r.message(t); m.Result == nil {
				t.Fatalf("got %d %s, want a result", r.status, r.body)
			} else if got := f.owner("mine"); got != m.Result.StructuredContent.Instance {
				t.Errorf("bound to %q, want %s, which ran it", got, m.Result.StructuredContent.Instance)
			}
		})
	}
}

// TestAnothersTaskCannotBeMade: an id that is another principal's, whoever made it, leads
// to nobody, in a session or outside, and does not become the caller's.
func TestAnothersTaskCannotBeMade(t *testing.T) {
	b := start(t, setup{principals: true, upstreams: 1, endpoint: firstDraft})
	alice, mallory := []string{userHeader, "alice"}, []string{userHeader, "mallory"}
	session := b.open("2025-11-25", mallory...)
	for name, id := range map[string]string{
		"of the client's": "alices-own",
		"core":            b.makeCoreTask("", alice...),
		"modern":          b.makeTask(alice...),
	} {
		if name == "of the client's" {
			b.legacy("", "tools/call", slowCompute(0)+draftMeta(id), alice...)
		}
		for _, session := range []string{"", session} {
			before := b.contacted()
			r := b.legacy(session, "tools/list", draftMeta(id)[1:], mallory...)
			if r.parsed().Error.Code != -32602 || b.contacted() != before {
				t.Errorf("%s, session %q: got %v", name, session, r)
			}
			if r := b.legacy("", "tasks/get", byID(id), mallory...); r.parsed().Error.Code != -32602 {
				t.Errorf("%s: the task is shown to another: %v", name, r)
			}
		}
		if r := b.legacy("", "tasks/get", byID(id), alice...); r.status != 200 || r.parsed().Error.Code == -32602 {
			t.Errorf("%s: lost to its owner: %v", name, r)
		}
	}
}
