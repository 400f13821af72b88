package proxy_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/sticky"
)

// The end of a session is the client's to say, and is so at once, at every berth. Its
// upstream hears of it when the last call in it is over.
func TestEndOfASessionWaitsForItsHeldCalls(t *testing.T) {
	f, g, _ := newSessionPair(t)
	server := f.servers[0]
	id := f.errand(`"seconds":0.01,"asks":["elicitation"]`)
	f.asks(id, 1)
	server.inject(onMethod("", sayStatus(http.StatusServiceUnavailable, jsonType, `{}`))) // the ask stays open, and the call with it
	if r := g.end(f.session); r.status != http.StatusOK || r.body != "" {
		t.Fatalf("got %v, want 200 without a body", r)
	}
	for name, berth := range map[string]*rig{"one": f.rig, "other": g} {
		for what, r := range map[string]reply{
			"a call":      berth.legacy(f.session, "ping", ""),
			"a response":  berth.respond(f.session, "0", `"result":{}`),
			"a stream":    berth.do(berth.request(t.Context(), http.MethodGet, "", legacyHeader(f.session)...)),
			"another end": berth.end(f.session),
		} {
			if r.status != http.StatusNotFound || r.message(t).Error.Code != -32600 {
				t.Errorf("%s at the %s: got %v, want an unknown session", what, name, r)
			}
		}
		if r := berth.legacy(f.session, "initialize", `"protocolVersion":"2025-11-25"`); r.status != http.StatusOK {
			t.Errorf("initialize at the %s: got %v, want a session", name, r)
		}
	}
	if n := server.Calls("DELETE"); n != 0 {
		t.Fatalf("the upstream was sent %d DELETE while a call was held", n)
	}
	if _, _, err := g.bindings.Lookup(t.Context(), g.router.SessionKey("", f.session)); !errors.Is(err, sticky.ErrUnknown) {
		t.Errorf("the session's binding: got %v, want it forgotten", err)
	}
	server.inject(nil)
	answer := `{"jsonrpc":"2.0","id":0,"result":{}}`
	if r := fetch(t, http.MethodPost, "http://"+server.addr+"/mcp", answer, "Mcp-Session-Id", f.session); r.status != http.StatusAccepted {
		t.Fatalf("the upstream does not hold the session any more: %v", r)
	}
	f.reaches(id, "completed")
	f.eventually("the end of the session at its upstream", func() bool { return server.Calls("DELETE") == 1 })
}

// A tool that waits for a client which has left need not wait for ever.
func TestOpenAsksAreRefusedWhenTheSessionEnds(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	id := f.errand(`"seconds":0,"asks":["elicitation","sampling"],"at_once":true`)
	f.asks(id, 2)
	if r := f.end(f.session, "X-Custom", "mine"); r.status != http.StatusOK {
		t.Fatalf("got %v, want 200", r)
	}
	want := `{"code":-32603,"message":"the client has ended the session"}`
	if got := f.answersOf(id); got != "["+want+","+want+"]" {
		t.Errorf("the tool got %s, want two of %s", got, want)
	}
	if got := f.servers[0].LastHeader("").Get("X-Custom"); got != "mine" {
		t.Errorf("refused with %q, want the headers of the DELETE", got)
	}
	f.eventually("the end of the session at its upstream", func() bool { return f.servers[0].Calls("DELETE") == 1 })
}

func TestSessionWithoutHeldCallsEndsAtItsUpstream(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	f.reaches(f.errand(`"seconds":0`), "completed")
	realtest.Eventually(t, "the end of the call", func() bool { return f.tasks.Held() == 0 })
	if r := f.end(f.session); r.status != http.StatusNoContent || f.servers[0].Calls("DELETE") != 1 {
		t.Errorf("got %v after %d DELETE, want the upstream's 204", r, f.servers[0].Calls("DELETE"))
	}
}

func TestStandingStreamsEndWithTheirSession(t *testing.T) {
	f, g, _ := newSessionPair(t)
	id := f.errand(`"seconds":3600`)
	streams := []*standing{f.stand(f.session), g.stand(f.session)}
	f.end(f.session)
	for _, s := range streams {
		f.eventually("the end of a stream", s.isOver)
	}
	if got := f.status(id); got != "working" {
		t.Errorf("got %s, want working: the call goes on", got)
	}
}

// Who is told of the end of a session by nobody finds out by itself.
func TestStandingStreamEndsThoughNobodyTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		g := f.beside(f.store) // a store that is not shared tells nobody
		f.errand(`"seconds":3600`)
		s := g.stand(f.session)
		synctest.Wait()
		start := time.Now()
		f.end(f.session)
		<-s.over
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("took %v, want at most 15s", took)
		}
	})
}

// Who bears nothing that a call in the session was made with ends it only if the upstream
// lets it speak there.
func TestStrangerDoesNotEndASession(t *testing.T) {
	const mine, fresh = "Bearer mine", "Bearer fresh"
	f := newSessionRig(t, rigOptions{})
	id := f.errand(`"seconds":3600`, "Authorization", mine)
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if token := r.Header.Get("Authorization"); token == mine || token == fresh {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	ping := func(token string) int {
		return f.do(f.request(t.Context(), http.MethodPost, message("ping", ""), append(legacyHeader(f.session), "Authorization", token)...)).status
	}
	for _, token := range []string{"", "Bearer other"} {
		if r := f.end(f.session, "Authorization", token); r.status != http.StatusUnauthorized {
			t.Errorf("with %q: got %v, want the upstream's 401", token, r)
		}
	}
	if got := ping(mine); got != http.StatusOK {
		t.Errorf("in the session: got %d, want 200", got)
	}
	if r := f.end(f.session, "Authorization", fresh); r.status != http.StatusOK {
		t.Errorf("with a token that the upstream takes: got %v, want 200", r)
	}
	if got := ping(mine); got != http.StatusNotFound || f.status(id) != "working" {
		t.Errorf("got %d in the session, want 404; the call is %s", got, f.status(id))
	}
}

// Where the call was made by the same right, the upstream is not asked: a server that is
// busy with nothing but the call would not say.
func TestMakerOfACallEndsItsSession(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	f.errand(`"seconds":3600`, "Authorization", "Bearer mine")
	f.servers[0].freeze()
	if r := f.end(f.session, "Authorization", "Bearer mine"); r.status != http.StatusOK {
		t.Errorf("got %v, want 200", r)
	}
}

// A store that is away stops no request of a session; but the end of one, which might take
// held calls along, is put off.
func TestSessionGoesOnWithoutTheStore(t *testing.T) {
	f, _, redis := newSessionPair(t)
	f.errand(`"seconds":3600`)
	redis.Stop()
	defer redis.Cont()
	if r := f.legacy(f.session, "ping", ""); r.status != http.StatusOK {
		t.Errorf("ping: got %v, want 200", r)
	}
	f.end(f.session).fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if n := f.servers[0].Calls("DELETE"); n != 0 {
		t.Errorf("the upstream was sent %d DELETE", n)
	}
}

// A session of a version without tasks holds no calls: nothing needs to be asked for it.
func TestOlderSessionEndsWithoutTheStore(t *testing.T) {
	f, _, redis := newSessionPair(t)
	r := f.do(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-06-18"`)))
	redis.Stop()
	defer redis.Cont()
	if r := f.end(r.header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-06-18"); r.status != http.StatusNoContent {
		t.Errorf("got %v, want the upstream's 204", r)
	}
}

// A session is its principal's to end.
func TestAnotherPrincipalDoesNotEndASession(t *testing.T) {
	f := newSessionRig(t, rigOptions{tcp: true, principals: true})
	alice := f.do(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-11-25"`), userHeader, "alice")).header.Get("Mcp-Session-Id")
	f.session = alice
	f.errand(`"seconds":3600`, userHeader, "alice")
	if r := f.end(alice, userHeader, "bob"); r.status != http.StatusNotFound {
		t.Errorf("bob's end: got %v, want 404", r)
	}
	ping := f.request(t.Context(), http.MethodPost, message("ping", ""), append(legacyHeader(alice), userHeader, "alice")...)
	if r := f.do(ping); r.status != http.StatusOK {
		t.Errorf("alice's ping: got %v, want 200", r)
	}
	if r := f.end(alice, userHeader, "alice"); r.status != http.StatusOK {
		t.Errorf("alice's end: got %v, want 200", r)
	}
}
