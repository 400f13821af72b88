package stdio

import (
	"context"
	"testing"
	"time"

	"berth/internal/wire"
)

// What begins after the options changed is run by the new ones, unless these start nothing.
func TestSessionsOfBeforeAChangeRetire(t *testing.T) {
	r := newRig(t, "server")
	i := &Instance{now: &running{Server: r.Server, by: r.options}}
	defer func() { _ = i.Shutdown(context.Background()) }()
	before := r.open("one")
	if i.Retires(before.session) || i.Retires("unknown") {
		t.Error("before the change")
	}
	changed := r.options
	changed.SessionPrefix, changed.Command, changed.Restart = "changed-", []string{"/no/such/program"}, time.Hour
	i.Change(changed)
	i.now.breaker.backoff = time.Millisecond
	if !i.Retires(before.session) {
		t.Error("the session of before is given what is new")
	}
	for range quickDeaths {
		if _, err := i.Send(t.Context(), r.request(wire.MethodPost, "", "one", opening), 0); err == nil {
			t.Fatal("it was started")
		}
	}
	if i.Retires(before.session) {
		t.Error("what is new goes to what keeps dying")
	}
}

func TestSessionsOfAnOldProcessRetire(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.MaxLife, o.MaxProcesses = time.Hour, 2 })
	c := r.open("one")
	if r.Retires(c.session) {
		t.Error("while it is young")
	}
	r.mu.Lock()
	r.sessions[c.session].peer.begun = time.Now().Add(-2 * time.Hour)
	r.mu.Unlock()
	if !r.Retires(c.session) {
		t.Error("the old process is given what is new")
	}
	r.open("two")
	if r.Retires(c.session) {
		t.Error("where no other may be started")
	}
}
