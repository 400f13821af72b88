package proxy_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/realtest"
	"berth/proxy"
	"berth/routing"
)

// A bomb is a picker that panics while it is armed, with a value that holds what a
// client sent.
type bomb struct{ armed atomic.Bool }

// Pick implements routing.Picker.
func (b *bomb) Pick(c routing.Choice) *routing.Upstream {
	if b.armed.Load() {
		panic("bomb: " + canaryArgument)
	}
	return c.Among[0]
}

// TestPanicIsOneRequestsEnd: the caller is told, the operator finds the place, and
// everybody else goes on.
func TestPanicIsOneRequestsEnd(t *testing.T) {
	hook := new(bomb)
	b := start(t, setup{pool: func(o *routing.PoolOptions) { o.Picker = hook }})
	id := b.makeTask()
	hook.armed.Store(true)
	r := b.legacy("", "tools/call", `"name":"who"`)
	if r.status != http.StatusInternalServerError || r.code() != -32603 || string(r.parsed().ID) != "1" {
		t.Errorf("got %v, want 500 -32603 with the request's id", r)
	}
	if log := b.logs.String(); !strings.Contains(log, "panic_test.go") || strings.Contains(log, canaryArgument) {
		t.Errorf("the log names the place: %v, and the value: %v", strings.Contains(log, "panic_test.go"), strings.Contains(log, canaryArgument))
	}
	if r := b.modern("tasks/get", id, byID(id)); r.parsed().Result.TaskID != id {
		t.Errorf("an owned call meanwhile: got %v, want the task", r)
	}
	hook.armed.Store(false)
	if r := b.legacy("", "tools/call", `"name":"who"`); r.status != 200 {
		t.Errorf("afterwards: got %v, want 200", r)
	}
	realtest.Eventually(t, "every record", func() bool { return strings.Count(b.access.String(), "\n") == 4 })
	if !strings.Contains(b.access.String(), `"status":500,"code":-32603,"outcome":"failed"`) {
		t.Errorf("the record does not tell of it: %s", b.access)
	}
}

// TestPanicGivesTheLeaseBack: an upstream that seems busy for ever gets no work.
func TestPanicGivesTheLeaseBack(t *testing.T) {
	var upstream *routing.Upstream
	b := start(t, setup{upstreams: 1, endpoint: func(ep *proxy.Endpoint) {
		upstream = ep.Router.Pool.Upstreams()[0]
		ep.Client = nil // sending panics
	}})
	if r := b.legacy("", "tools/call", `"name":"who"`); r.status != http.StatusInternalServerError || r.code() != -32603 {
		t.Errorf("got %v, want 500 -32603", r)
	}
	if n := upstream.InFlight(); n != 0 {
		t.Errorf("%d requests in flight, want none", n)
	}
}
