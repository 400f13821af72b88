package routing_test

import (
	"testing"

	"berth/internal/mcp"
)

// Nothing is made for what a request does not use.
func TestCostOfADecision(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.TaskKey("", "task"), "a")
	for name, c := range map[string]struct {
		call mcp.Call
		most float64
	}{
		"poll of a bound task": {modern("tasks/get", "task"), 1}, // the name in the store
		"call of a tool":       {mcp.Call{Method: "tools/call", Era: mcp.EraModern, Kind: mcp.KindRequest}, 0},
	} {
		q := f.query(c.call)
		if got := testing.AllocsPerRun(100, func() { _, _ = f.Decide(t.Context(), q) }); got > c.most {
			t.Errorf("%s: got %v allocations, want %v at most", name, got, c.most)
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
