package routing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/routing"
	"berth/sticky"
)

// Nobody's denial is final while part of the fleet has not been heard of.
func TestAPartialPoolDeniesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "memory:")
		f.Pool.SetPartial(true)
		for _, q := range []routing.Query{f.query(modern("tasks/get", "t1")), f.inSession(legacy("tools/call", ""))} {
			if err := f.Decide(t.Context(), &q, new(routing.Decision)); !errors.Is(err, routing.ErrUnclear) {
				t.Errorf("partial: got %v, want ErrUnclear", err)
			}
		}
		f.Pool.SetPartial(false)
		refuses(t, f.Router, f.query(modern("tasks/get", "t1")), routing.ErrUnknownTask)
	})
}

// An owner that another berth knows of is looked for before the fleet is asked.
func TestAnOwnerThatIsNotInThePoolIsSought(t *testing.T) {
	sought := 0
	var p *routing.Pool
	p = routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("a"), Seek: func(context.Context, string) {
		sought++
		p.Replace(upstreams("a", "b"))
	}})
	if u := p.Owner(t.Context(), "a"); u == nil || sought != 0 {
		t.Errorf("got %v after %d searches, want a after none", u, sought)
	}
	if u := p.Owner(t.Context(), "b"); u == nil || sought != 1 {
		t.Errorf("got %v after %d searches, want b after one", u, sought)
	}
	if u := p.Owner(t.Context(), "c"); u != nil {
		t.Errorf("got %v, want nobody", u)
	}
}

// A task and a session bound to an owner that joins by a search go there.
func TestWhatIsBoundToASoughtOwnerGoesThere(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, sticky.Key{Pool: f.Pool.Name(), Kind: sticky.Task, ID: "t1"}, "late")
	var p *routing.Pool
	p = routing.NewPool(routing.PoolOptions{Name: f.Pool.Name(), Upstreams: upstreams("a"), Seek: func(context.Context, string) { p.Replace(upstreams("a", "late")) }})
	router := *f.Router
	router.Pool, router.Asker = p, routing.NewAsker(p)
	var d routing.Decision
	err := router.Decide(t.Context(), new(f.query(modern("tasks/get", "t1"))), &d)
	if err != nil || d.Owner == nil || d.Owner.Name != "late" {
		t.Errorf("got %+v, %v, want the owner that joined", d, err)
	}
}

// So do calls that carry a value which is bound to such a one, and the next round of a call that it has asked about.
func TestCallsGoToASoughtOwnerOfAValueOrState(t *testing.T) {
	f := newFleet(t, "memory:")
	f.bind(t, f.AffinityKey("", "handle"), "late")
	f.bind(t, f.AffinityKey("", "known"), "a")
	f.Bindings.Prefer(t.Context(), f.HintKey("", routing.HintID("tools/call", "round2", "")), "late")
	for _, c := range []struct {
		query routing.Query
		owner string
	}{
		{routing.Query{Calls: []mcp.Call{{Method: "tools/call"}}, Affinity: []string{"known", "handle"}}, "a"},
		{routing.Query{Calls: []mcp.Call{{Method: "tools/call"}}, Affinity: []string{"new", "handle"}}, "late"},
		{routing.Query{Calls: []mcp.Call{{Method: "tools/call", RequestState: "round2"}}}, ""},
		{routing.Query{Calls: []mcp.Call{{Method: "tools/call"}}, Affinity: []string{"new"}}, ""},
	} {
		sought := 0
		var p *routing.Pool
		p = routing.NewPool(routing.PoolOptions{Name: f.Pool.Name(), Upstreams: upstreams("a"), Seek: func(context.Context, string) {
			sought++
			p.Replace(upstreams("a", "late"))
		}})
		router := *f.Router
		router.Pool = p
		var d routing.Decision
		err := router.Decide(t.Context(), &c.query, &d)
		is, names := "", c.owner == "late" || c.query.Calls[0].RequestState != ""
		if d.Owner != nil {
			is = d.Owner.Name
		}
		if err != nil || is != c.owner || (p.Find("late") != nil) != names || sought > 1 {
			t.Errorf("%+v: got %q, %v, after %d searches, want %q", c.query, is, err, sought, c.owner)
		}
	}
}

// One that nobody has asked for anything is found silent by a look.
func TestALookFindsOutWhoIsGone(t *testing.T) {
	p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("a"), Probe: mute})
	p.Look(t.Context(), p.Find("a"))
	if !p.Find("a").Silent() {
		t.Error("it is not silent")
	}
	well := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("a"), Probe: func(context.Context, *routing.Upstream) error { return nil }})
	well.Look(t.Context(), well.Find("a"))
	if well.Find("a").Silent() {
		t.Error("it answered, and is silent")
	}
}
