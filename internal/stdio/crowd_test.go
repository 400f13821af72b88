package stdio

import (
	"testing"
	"time"
)

// Whoever has most sessions, where there are as many as may be, loses those that it has not used for the longest time: not the one that
// comes, and none that is in use.
func TestSessionsThatNobodyUsesKeepNobodyOut(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
	first, modest := r.open("greedy"), r.open("modest")
	busy := r.open("greedy")
	hanging := busy.begin("1", "hang", "")
	hanging.message()
	listening := r.open("greedy")
	stream := listening.listen("")
	defer stream.body.Close()
	fill := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for p := range r.peers {
			for len(r.sessions) < maxSessions {
				r.newSession(p, "greedy")
			}
		}
		for _, c := range []*client{first, busy, listening} { // in this order
			r.sessions[c.session].touched = time.Now().Add(-time.Minute)
		}
	}
	fill()
	for _, caller := range []string{"another", "greedy"} {
		if got := r.open(caller).call("echo", "let in"); got != "let in" {
			t.Errorf("%s: got %q", caller, got)
		}
	}
	if response := first.post(tool("1", "echo", "")); response.Status != 404 {
		t.Errorf("the session that was not used for the longest time: got %d", response.Status)
	}
	for name, c := range map[string]*client{"of another": modest, "with a call": busy, "that is listened to": listening} {
		if got := c.call("echo", "stays"); got != "stays" {
			t.Errorf("one %s: got %q", name, got)
		}
	}
	if n := r.InFlight(); n != 1 {
		t.Errorf("%d calls are in flight", n)
	}
}

// Where all are in use nobody is let in.
func TestSessionsThatAreInUseStay(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
	r.open("")
	r.mu.Lock()
	for p := range r.peers {
		for len(r.sessions) < maxSessions {
			r.newSession(p, "")
		}
	}
	for _, session := range r.sessions {
		session.calls[&call{session: session}] = struct{}{}
	}
	r.mu.Unlock()
	if response := r.reach(r.request("POST", "", "", opening)); response.Status != 503 {
		t.Errorf("got %d, want 503", response.Status)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, session := range r.sessions {
		clear(session.calls)
	}
}
