package stdio

import (
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

func TestProcessesAreBounded(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.MaxProcesses = 1 })
	c := r.open("")
	response := r.reach(r.request(wire.MethodPost, "", "", opening))
	if _, reason, _ := failure(t, exchangetest.ReadAll(t, response)); response.Status != 503 || reason != ReasonTooManyProcesses || response.Header.Get("Retry-After") != "1" || !response.Unasked {
		t.Errorf("got %d %s, unasked %v", response.Status, reason, response.Unasked)
	}
	r.reach(r.request(wire.MethodDelete, c.session, "", ""))
	r.eventually("there is room again", func() bool { return r.processes() == 0 })
	r.open("")
}

func brisk(o *Options, t *timing) {
	o.Idle, t.sweep = 30*time.Millisecond, 5*time.Millisecond
}

func TestIdleProcessIsStopped(t *testing.T) {
	for name, isolation := range map[string]Isolation{"a session's": IsolateSession, "all's": IsolateAll} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "server", brisk, func(o *Options, _ *timing) { o.Isolation = isolation })
			c := r.open("a")
			r.eventually("the process is gone", func() bool { return r.processes() == 0 })
			if response := c.post(tool("1", "echo", "")); response.Status != 404 {
				t.Errorf("got %d, want 404", response.Status)
			}
		})
	}
}

// A process is idle from when it is ready: one that takes long to start would be stopped before its first session is open.
func TestProcessIsNotIdleWhileItStarts(t *testing.T) {
	r := newRig(t, "server")
	r.mu.Lock()
	p, refused := r.newPeer([]byte(opening), nil)
	r.mu.Unlock()
	if refused != nil {
		t.Fatal(refused)
	}
	<-p.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.result == nil || !p.touched.After(p.begun) {
		t.Errorf("its idle time runs from %v, its start was at %v", p.touched, p.begun)
	}
}

// Each of these keeps a process that is looked at ten times while it lasts.
func TestProcessInUseIsNotStopped(t *testing.T) {
	for name, tc := range map[string]struct {
		isolation Isolation
		use       func(c *client)
	}{
		"a call, its stream cut":      {IsolateSession, func(c *client) { c.begin("1", "hang", "").close() }},
		"a call":                      {IsolateSession, func(c *client) { c.begin("1", "hang", "") }},
		"a call in one of its own":    {IsolateCall, func(c *client) { c.begin("1", "hang", "") }},
		"a call in what others share": {IsolateAll, func(c *client) { c.begin("1", "hang", "") }},
		"a standing stream":           {IsolateSession, func(c *client) { c.listen("") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "server", func(o *Options, t *timing) {
				o.Isolation, o.Idle, t.sweep = tc.isolation, 20*time.Millisecond, time.Hour
			})
			c := r.open("")
			tc.use(c)
			r.eventually("its time is over", func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return time.Since(r.sessions[c.session].touched) > r.options.Idle
			})
			r.sweep()
			if response := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); response.Status != 200 {
				t.Errorf("got %d", response.Status)
			}
		})
	}
}

func TestCallThatNobodyComesBackForKeepsNoProcess(t *testing.T) {
	r := newRig(t, "server", brisk, func(_ *Options, t *timing) { t.unread = 50 * time.Millisecond })
	r.open("").begin("1", "hang", "").close()
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}

func TestOldProcessTakesNoNewSession(t *testing.T) {
	r := newRig(t, "server", shared, func(o *Options, t *timing) { o.MaxLife, t.sweep = time.Millisecond, 5*time.Millisecond })
	a := r.open("a")
	first := a.call("pid", "")
	if b := r.open("b").call("pid", ""); b == first {
		t.Errorf("both in process %s", b)
	}
	if got := a.call("pid", ""); got != first {
		t.Errorf("the old session: got %s, want %s", got, first)
	}
	r.reach(r.request(wire.MethodDelete, a.session, "a", ""))
	r.eventually("the old process is gone", func() bool { return r.processes() == 1 })
}

// A process that has lived long enough just as a session is about to be opened in it opens that.
func TestAProcessOpensTheSessionThatItWasChosenFor(t *testing.T) {
	r := newRig(t, "server", shared, func(o *Options, t *timing) { o.MaxLife, t.sweep = time.Millisecond, time.Hour })
	at, refused := r.processFor("a", []byte(opening))
	if refused != nil {
		t.Fatal(refused)
	}
	<-at.ready
	r.eventually("it is old", func() bool { return at.isOld(time.Now()) })
	r.sweep()
	response, err := r.Server.open(at, "a", []byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		t.Errorf("got %d", response.Status)
	}
}

func TestCloseStopsWhatHasNoSession(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	r.reach(r.request(wire.MethodDelete, a.session, "a", ""))
	r.Close()
	if got := b.call("echo", "still"); got != "still" {
		t.Errorf("got %q", got)
	}
	r.reach(r.request(wire.MethodDelete, b.session, "b", ""))
	r.Close()
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}
