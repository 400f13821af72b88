package routing_test

import (
	"testing"

	"berth/internal/mcp"
)

// Nothing is made for what a request does not use.
func TestCostOfADecision(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "task"), "a")
	for name, call := range map[string]mcp.Call{
		"poll of a bound task": modern("tasks/get", "task"),
		"call of a tool":       {Method: "tools/call", Era: mcp.EraModern, Kind: mcp.KindRequest},
	} {
		q := f.query(call)
		if got := testing.AllocsPerRun(100, func() { _, _ = f.Decide(t.Context(), q) }); got > 0 {
			t.Errorf("%s: got %v allocations", name, got)
		}
	}
}

func TestCostOfAChoice(t *testing.T) {
	p := poolOf("a", "b", "c")
	u := p.Find("a")
	if got := testing.AllocsPerRun(100, func() {
		lease, err := p.Pick(mcp.EraModern, "b", nil)
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
