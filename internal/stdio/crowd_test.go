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

// Where as many processes run as may, who has more than half of them gives up one that nobody uses, for another caller.
func TestProcessesThatNobodyUsesKeepNobodyOut(t *testing.T) {
	full := func(t *testing.T, callers ...string) (*rig, []*client) {
		r := newRig(t, "server", func(o *Options, _ *timing) { o.MaxProcesses = len(callers) })
		var all []*client
		for _, caller := range callers {
			all = append(all, r.open(caller))
		}
		return r, all
	}
	t.Run("more than half", func(t *testing.T) {
		r, all := full(t, "greedy", `greedy{"of the bridge":{}}/0`, "greedy", "modest")
		hanging := all[0].begin("1", "hang", "")
		hanging.message()
		if got := r.open("another").call("echo", "let in"); got != "let in" {
			t.Errorf("another: got %q", got)
		}
		if n := r.processes(); n > 4 {
			t.Errorf("%d processes run", n)
		}
		if response := all[1].post(tool("1", "echo", "")); response.Status != 404 {
			t.Errorf("the session that was not used for the longest time: got %d", response.Status)
		}
		for _, c := range all[2:] {
			if got := c.call("echo", "stays"); got != "stays" {
				t.Errorf("one of %s: got %q", c.caller, got)
			}
		}
		if n := r.InFlight(); n != 1 {
			t.Errorf("%d calls are in flight", n)
		}
		if response := r.reach(r.request("POST", "", "one more", opening)); response.Status != 503 {
			t.Errorf("where nobody has more than half: got %d", response.Status)
		}
	})
	for name, callers := range map[string][]string{
		"half": {"greedy", "greedy", "modest", "a"}, "of one's own": {"another", "another", "another", "a"}, "of nobody's": {"", "", "", "a"}, "the only one": {"greedy"},
	} {
		t.Run(name, func(t *testing.T) {
			r, all := full(t, callers...)
			if response := r.reach(r.request("POST", "", "another", opening)); response.Status != 503 {
				t.Errorf("got %d, want 503", response.Status)
			}
			for _, c := range all {
				if got := c.call("echo", "stays"); got != "stays" {
					t.Errorf("one of %q: got %q", c.caller, got)
				}
			}
		})
	}
}
