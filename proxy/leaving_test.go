package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/storage/redistest"
	"berth/routing"
	"berth/sticky"
)

// leavingRig is a fleet with a session at a, whose standing stream is looked at.
type leavingRig struct {
	*rig
	session string
	ended   chan error
}

func newLeavingRig(t *testing.T, o rigOptions) *leavingRig {
	f := &leavingRig{rig: newRig(t, reinit(o)), ended: make(chan error, 1)}
	f.session = f.initialize()
	f.furnish(f.session)
	return f
}

// drains has sessions leave the upstreams of these names, and no others.
func (f *leavingRig) drains(names ...string) {
	marks := map[string]routing.Drain{}
	for _, name := range names {
		marks[name] = routing.Drain{Since: time.Now(), MoveSessions: true}
	}
	f.pool.SetDrains(marks)
}

// standOpen opens the session's standing stream.
func (f *leavingRig) standOpen() {
	f.t.Helper()
	standing := f.rig.open(f.request(f.t.Context(), http.MethodGet, "", legacyHeader(f.session)...))
	go func() {
		_, err := io.ReadAll(standing.Body)
		standing.Body.Close()
		f.ended <- err
	}()
}

// stays lets a minute go by, in which the stream is not to end.
func (f *leavingRig) stays(why string) {
	f.t.Helper()
	time.Sleep(time.Minute)
	select {
	case err := <-f.ended:
		f.t.Fatalf("the stream ended, with %v, while %s", err, why)
	default:
	}
}

// leaves lets a minute go by, in which the stream is to end in order. The session is elsewhere then.
func (f *leavingRig) leaves(name string) {
	f.t.Helper()
	time.Sleep(time.Minute)
	select {
	case err := <-f.ended:
		if err != nil {
			f.t.Errorf("the stream ended with %v", err)
		}
	default:
		f.t.Errorf("the stream stays at %s, which sessions are to leave", name)
	}
	if got := f.who(f.session); got == name {
		f.t.Error("the session stays at", name)
	}
}

// A session's standing stream that had nowhere to go, when its upstream began to drain, leaves it as
// soon as another one takes sessions.
func TestStandingStreamLeavesOnceOthersAreBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLeavingRig(t, rigOptions{})
		f.drains("a", "b", "c")
		f.standOpen()
		f.stays("nobody else takes sessions")
		f.drains("a")
		f.leaves("a")
	})
}

// A stream whose request took the session to an upstream that began to drain by then leaves that too.
func TestStandingStreamLeavesWhereItWasMovedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLeavingRig(t, rigOptions{})
		var to string
		for _, s := range f.servers[1:] {
			s.inject(onMethod("initialize", onlyOnce(func(http.ResponseWriter, *http.Request, []byte) bool {
				if to == "" {
					to = s.Name
					f.drains(to)
				}
				return false
			})))
		}
		f.drains("a")
		f.standOpen()
		f.leaves(to)
	})
}

// A stream whose session nobody else would take leaves once somebody does.
func TestStandingStreamLeavesOnceOthersTakeItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLeavingRig(t, rigOptions{})
		for _, s := range f.servers[1:] {
			s.inject(onMethod("initialize", sayStatus(http.StatusInternalServerError, "text/plain", "not now")))
		}
		f.drains("a")
		f.standOpen()
		if got := f.who(f.session); got != "a" {
			t.Fatalf("the session is at %q, which took none", got)
		}
		for _, s := range f.servers[1:] {
			s.inject(nil)
		}
		f.leaves("a")
	})
}

// A stream whose session could not be moved for want of a store leaves once that is back.
func TestStandingStreamLeavesOnceTheStoreIsBack(t *testing.T) {
	redis := redistest.Start(t)
	f := newLeavingRig(t, rigOptions{tcp: true, store: openStore(t, redis.URL())})
	redis.Stop()
	f.drains("a")
	f.standOpen()
	f.eventually("a stream that stands at a", func() bool { return f.servers[0].Calls(http.MethodGet) == 1 })
	redis.Cont()
	f.eventually("the stream's end", func() bool { return len(f.ended) == 1 })
	if err := <-f.ended; err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	f.eventually("a session that is elsewhere", func() bool { return f.who(f.session) != "a" })
}

// A stream that another berth has begun while it could not read of what the session can be opened anew from leaves too, once an instance
// drains.
func TestStandingStreamThatBeganWithoutTheStoreLeaves(t *testing.T) {
	redis := redistest.Start(t)
	o := func() rigOptions { return reinit(rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL())}) }
	f := newLeavingRig(t, o())
	other := &leavingRig{rig: f.second(o()), session: f.session, ended: make(chan error, 1)}
	redis.Stop()
	other.standOpen()
	f.eventually("a stream that stands at a", func() bool { return f.servers[0].Calls(http.MethodGet) == 1 })
	redis.Cont()
	other.drains("a")
	other.eventually("the stream's end", func() bool { return len(other.ended) == 1 })
	if err := <-other.ended; err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	other.eventually("a session that is elsewhere", func() bool { return other.who(f.session) == "b" })
}

// A session that began without a store leaves a draining instance once that is back, and is told there what its client has said.
func TestSessionBegunWithoutAStoreLeavesOnceThatIsBack(t *testing.T) {
	redis := redistest.Start(t)
	store := openStore(t, redis.URL())
	redis.Stop()
	f := newLeavingRig(t, rigOptions{tcp: true, store: store})
	f.drains("a")
	if got := f.who(f.session); got != "a" {
		t.Errorf("answered by %q while the store is away, want a", got)
	}
	redis.Cont()
	at := ""
	f.eventually("a session that is elsewhere", func() bool {
		at = f.who(f.session)
		return at != "a"
	})
	for _, s := range f.servers {
		if s.Name == at {
			s.wantSession(t)
		}
	}
}

// A move that the store has made, and could not say so, loses no session.
func TestMoveThatTheStoreDoesNotConfirmLosesNoSession(t *testing.T) {
	redis := redistest.Start(t)
	line := redistest.Relay{MuteAfter: `"former":"a"`, Muted: make(chan struct{})}
	line.Start(t, redis.Addr)
	f := newLeavingRig(t, rigOptions{tcp: true, store: openStore(t, "redis://"+line.Addr()+"/0")})
	f.drains("a")
	if got := f.who(f.session); got != "a" {
		t.Errorf("answered by %q while nobody knows whether the session was moved, want a", got)
	}
	<-line.Muted
	line.Mute.Store(false)
	f.eventually("a session that is elsewhere", func() bool {
		got := f.who(f.session)
		if !strings.Contains("abc", got) {
			t.Fatalf("a call in the session: %s", got)
		}
		return got != "a"
	})
}

// A client's answer, and a session's end, go where another berth has moved the session, though this one's cache knows better and the
// upstream that it has left stands and takes both.
func TestAnswersAndEndsFollowASessionThatAnotherBerthHasMoved(t *testing.T) {
	redis := redistest.Start(t)
	o := func() rigOptions {
		return reinit(rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL()), server: func(s *mcptest.Server) { s.SSE = true }})
	}
	f := newLeavingRig(t, o())
	other := f.second(o())
	if got := other.who(f.session); got != "a" { // is near there now
		t.Fatalf("answered by %q, want a", got)
	}
	f.drains("a")
	if got := f.who(f.session); got != "b" {
		t.Fatalf("answered by %q, want b", got)
	}
	ask, _ := questions("of b")
	f.servers[1].inject(ask)
	call := f.rig.open(f.legacyRequest(t.Context(), f.session, "tools/call", `"name":"ask"`))
	defer call.Body.Close()
	events := newEventLines(t, call)
	var asked struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(eventsIn(events.event() + "\n\n")[0]), &asked); err != nil {
		t.Fatal(err)
	}
	if r := other.in(f.session, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.ID)); r.status != http.StatusAccepted {
		t.Errorf("the answer got %d %s", r.status, r.body)
	}
	if got := events.event(); !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("the call ended with %s", got)
	}
}

func TestASessionThatAnotherBerthHasMovedEndsWhereItIs(t *testing.T) {
	redis := redistest.Start(t)
	o := func() rigOptions { return reinit(rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL())}) }
	f := newLeavingRig(t, o())
	other := f.second(o())
	if got := other.who(f.session); got != "a" {
		t.Fatalf("answered by %q, want a", got)
	}
	f.drains("a")
	if got := f.who(f.session); got != "b" {
		t.Fatalf("answered by %q, want b", got)
	}
	if r := other.in(f.session, http.MethodDelete, ""); r.status/100 != 2 {
		t.Errorf("the end got %d %s", r.status, r.body)
	}
	for _, s := range f.servers {
		if left := s.Sessions(); len(left) != 0 {
			t.Errorf("%s still has %v", s.Name, left)
		}
	}
	for _, berth := range []*rig{f.rig, other} {
		if got := berth.who(f.session); got != "404" {
			t.Errorf("after its end the session is answered by %q", got)
		}
	}
}

// Nobody can go on, by an event's id, with a stream of an upstream that the session has left: what such a one tells bears none.
func TestEventsOfAnUpstreamThatTheSessionHasLeftBearNoID(t *testing.T) {
	f := newLeavingRig(t, rigOptions{tcp: true})
	if err := f.bindings.Bind(t.Context(), f.router.TaskKey("", "t"), sticky.Binding{Upstream: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	answer := `data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}` + "\n\n"
	f.servers[0].inject(onMethod("tasks/result", say(eventsType, "id: e-1\ndata:\n\nid: e-2\n"+answer)))
	if r := f.legacy(f.session, "tasks/result", byID("t")); !strings.Contains(r.body, "id: e-2\n"+answer) {
		t.Errorf("before the move: %v", r)
	}
	f.drains("a")
	if got := f.who(f.session); got == "a" {
		t.Fatal("the session has not moved")
	}
	if r := f.legacy(f.session, "tasks/result", byID("t")); !strings.Contains(r.body, answer) || strings.Contains(r.body, "e-") {
		t.Errorf("after the move: %v", r)
	}
}
