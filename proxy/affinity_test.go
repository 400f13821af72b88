package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/routing"
)

// together is a rig whose calls are kept together by the value of Mcp-Param-Label, and
// else by that of Mcp-Param-Instance. Unbound work goes round.
func together(t *testing.T, o rigOptions) *rig {
	o.picker = new(routing.RoundRobin)
	o.endpoint = func(ep *proxy.Endpoint) { ep.Affinity = []string{"Mcp-Param-Label", "Mcp-Param-Instance"} }
	return newRig(t, o)
}

// whoWith calls a tool that names the instance it runs on; header are pairs.
func (f *rig) whoWith(header ...string) string {
	f.t.Helper()
	m := f.modern("tools/call", "who", `"name":"who"`, header...).message(f.t)
	if m.Result == nil {
		return fmt.Sprintf("error %+v", m.Error)
	}
	return m.Result.StructuredContent.Instance
}

// label is the header of a value.
func label(value string) []string { return []string{"Mcp-Param-Label", value} }

func TestCallsOfOneValueStayTogether(t *testing.T) {
	f := together(t, rigOptions{})
	first := f.whoWith(label("7")...)
	for range 5 {
		if got := f.whoWith(label("7")...); got != first {
			t.Errorf("got %s, want %s as the first time", got, first)
		}
	}
	if a, b, c := f.whoWith(), f.whoWith(), f.whoWith(); a == b || b == c {
		t.Errorf("calls without the header went to %s, %s, %s, want turns", a, b, c)
	}
	// The same value, encoded as a client must where it is not plain ASCII.
	if got := f.whoWith(label("=?base64?Nw==?=")...); got != first {
		t.Errorf("encoded: got %s, want %s", got, first)
	}
}

// The call that makes a handle names it in its answer, and not in its header: who gets
// the handle is led to who made it, at once.
func TestHandleLeadsToItsMaker(t *testing.T) {
	f := together(t, rigOptions{})
	maker := f.whoWith() // its answer says {"instance": maker}
	for range 4 {
		if got := f.whoWith("Mcp-Param-Instance", maker); got != maker {
			t.Errorf("got %s, want the maker, %s", got, maker)
		}
	}
}

// A handle made by a tool that ran as a task stands in the task's result.
func TestHandleOfATaskLeadsToItsMaker(t *testing.T) {
	f := together(t, rigOptions{})
	id := f.newTask(0)
	maker := f.owner(id)
	f.poll(id)
	for range 3 {
		if got := f.whoWith("Mcp-Param-Instance", maker); got != maker {
			t.Errorf("got %s, want the maker, %s", got, maker)
		}
	}
}

// An instance that does not know a handle fails. Nothing is learned from that, so that
// whoever tries again comes to the one that does.
func TestFailureBindsNoValue(t *testing.T) {
	for name, failure := range map[string]string{
		"the tool's": `"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":"no such cart"}]}`,
		"JSON-RPC's": `"error":{"code":-32602,"message":"no such cart"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := together(t, rigOptions{})
			for _, s := range f.servers[:2] {
				s.inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.Header().Set("Content-Type", jsonType)
					fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,`+failure+`}`)
					return true
				})
			}
			f.eventually("the one that knows it is found", func() bool { return f.whoWith(label("7")...) == "c" })
			for range 3 {
				if got := f.whoWith(label("7")...); got != "c" {
					t.Errorf("got %s, want c", got)
				}
			}
		})
	}
}

// The first header of the list that is bound decides; what the others say is learned.
func TestFirstAffinityCounts(t *testing.T) {
	f := together(t, rigOptions{})
	one, two := f.whoWith(label("1")...), f.whoWith(label("2")...)
	if one == two {
		t.Fatalf("both went to %s", one)
	}
	if got := f.whoWith("Mcp-Param-Label", "2", "Mcp-Param-Instance", one); got != two {
		t.Errorf("got %s, want %s, which the first header names", got, two)
	}
	if got := f.whoWith("Mcp-Param-Label", "new", "Mcp-Param-Instance", one); got != one {
		t.Errorf("got %s, want %s, which the only one that is bound names", got, one)
	}
	if got := f.whoWith(label("new")...); got != one {
		t.Errorf("got %s, want %s, where the value went along", got, one)
	}
}

// What has an owner goes to it, whatever its headers name.
func TestTasksAndSessionsBeatAffinity(t *testing.T) {
	f := together(t, rigOptions{})
	id := f.newTask(3600)
	session := f.initialize()
	owner, holder := f.owner(id), ownerOf(f.bindings, f.router.SessionKey("", session))
	for _, u := range f.pool.Upstreams() {
		f.whoWith(label(u.Name)...) // three values, each with its own upstream
	}
	for _, u := range f.pool.Upstreams() {
		if m := f.poll(id, label(u.Name)...).message(t); m.Result == nil || m.Result.Status != "working" {
			t.Errorf("poll: got %+v, want %s's answer", m, owner)
		}
		header := append(legacyHeader(session), label(u.Name)...)
		r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", `"name":"who"`), header...))
		if m := r.message(t); m.Result == nil || m.Result.StructuredContent.Instance != holder {
			t.Errorf("in the session: got %s, want %s", r.body, holder)
		}
	}
}

// Values of callers who are told apart are theirs.
func TestValuesAreTheirPrincipals(t *testing.T) {
	f := together(t, rigOptions{principals: true})
	alice := f.whoWith("Mcp-Param-Label", "7", userHeader, "alice")
	for _, header := range []string{"alice", "bob"} {
		if got := f.whoWith("Mcp-Param-Label", "7", userHeader, header); header == "alice" && got != alice || header == "bob" && got == alice {
			t.Errorf("%s got %s; alice's is at %s", header, got, alice)
		}
	}
}

// Drained and ejected instances keep what they hold.
func TestValueStaysWithADrainingOwner(t *testing.T) {
	f := together(t, rigOptions{})
	owner := f.whoWith(label("7")...)
	f.pool.Find(owner).Draining = true
	if got := f.whoWith(label("7")...); got != owner {
		t.Errorf("got %s, want %s, which drains", got, owner)
	}
}

// Nobody listens where the handle was made: its memory is gone. The call goes on, to
// somebody who says so in the server's own words, and the value is that one's then.
func TestValueLeavesAnOwnerThatIsGone(t *testing.T) {
	f := together(t, rigOptions{tcp: true, probe: true})
	owner := f.whoWith(label("7")...)
	for _, s := range f.servers {
		if s.Name == owner {
			s.kill()
		}
	}
	f.outbound.Close()
	next := f.whoWith(label("7")...)
	if next == owner || len(next) != 1 {
		t.Fatalf("got %s, want another one than %s", next, owner)
	}
	for range 4 {
		if got := f.whoWith(label("7")...); got != next {
			t.Errorf("got %s, want %s", got, next)
		}
	}
}

// Silence is another matter: the owner may come back with all that it held. It is waited
// for, as for tasks; then the value is free.
func TestValueWaitsForASilentOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := together(t, rigOptions{probe: true})
		owner := f.whoWith(label("7")...)
		f.outbound.Close()
		f.network.cut(owner)
		for range 3 {
			r := f.modern("tools/call", "who", `"name":"who"`, label("7")...)
			r.fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		}
		f.network.mend(owner)
		f.eventually("the owner answers", func() bool { return f.whoWith(label("7")...) == owner })

		f.network.cut(owner)
		f.outbound.Close()
		f.modern("tools/call", "who", `"name":"who"`, label("7")...)
		time.Sleep(31 * time.Second)
		if got := f.whoWith(label("7")...); got == owner || len(got) != 1 {
			t.Errorf("after its grace: got %s, want another one than %s", got, owner)
		}
		f.network.mend(owner)
	})
}

// A tool call that may have arrived is nobody else's, handle or not.
func TestBrokenCallWithAValueIsNotRepeated(t *testing.T) {
	f := together(t, rigOptions{tcp: true})
	f.whoWith(label("7")...)
	for _, s := range f.servers {
		s.inject(reset)
	}
	before := f.calls("tools/call")
	f.modern("tools/call", "who", `"name":"who"`, label("7")...).fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
	if got := f.calls("tools/call") - before; got != 1 {
		t.Errorf("sent %d times, want once", got)
	}
}

// Two readers could take different ones.
func TestAmbiguousValuesAreRefused(t *testing.T) {
	f := together(t, rigOptions{})
	request := f.modernRequest(t.Context(), "tools/call", "who", `"name":"who"`)
	request.Header["Mcp-Param-Label"] = []string{"1", "2"}
	if r := f.do(request); r.status != http.StatusBadRequest || r.message(t).Error.Code != -32020 {
		t.Errorf("got %d %s, want 400, -32020", r.status, r.body)
	}
	if r := f.modern("tools/call", "who", `"name":"who"`, label("=?base64?*?=")...); r.status != http.StatusBadRequest || !strings.Contains(r.body, "base64") {
		t.Errorf("got %d %s, want 400", r.status, r.body)
	}
}
