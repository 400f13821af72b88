package routing_test

import (
	"testing"

	"berth/internal/mcp"
	"berth/routing"
)

// Nothing is made for what a request does not use.
func TestCostOfADecision(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "task"), "a")
	f.bind(t, f.SessionKey("", "session"), "a")
	tool := mcp.Call{Method: "tools/call", Era: mcp.EraModern, Kind: mcp.KindRequest}
	for name, q := range map[string]routing.Query{
		"poll of a bound task":   f.query(modern("tasks/get", "task")),
		"call of a tool":         f.query(tool),
		"call in a session":      f.inSession(mcp.Call{Method: "tools/call", Kind: mcp.KindRequest}),
		"poll within a session":  f.inSession(legacy("tasks/get", "task")),
		"poll without a session": f.query(legacy("tasks/get", "task")),
	} {
		var d routing.Decision
		if got := testing.AllocsPerRun(100, func() { d = routing.Decision{}; _ = f.Decide(t.Context(), &q, &d) }); got > 0 {
			t.Errorf("%s: got %v allocations", name, got)
		}
	}
}

func TestCostOfAChoice(t *testing.T) {
	p := poolOf("a", "b", "c")
	u := p.Find("a")
	if got := testing.AllocsPerRun(100, func() {
		lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "b"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Succeeded(lease.Upstream)
		p.Speaks(lease.Upstream, mcp.EraModern, nil)
		lease.Release()
	}); got > 1 {
		t.Errorf("unbound work: got %v allocations, want the lease", got)
	}
	if got := testing.AllocsPerRun(100, func() {
		lease := p.Own(u)
		p.Succeeded(u)
		lease.Release()
	}); got > 0 {
		t.Errorf("at an owner: got %v allocations, want none", got)
	}
}
