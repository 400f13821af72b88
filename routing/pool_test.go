package routing_test

import (
	"errors"
	"sync"
	"testing"

	"berth/internal/mcp"
	"berth/routing"
)

func TestLeaseCountsOnceAndIsReleasedOnce(t *testing.T) {
	p := poolOf("a")
	first, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil)
	if err != nil {
		t.Fatalf("Pick: %v", err)
	}
	second := p.Own(p.Find("a"))
	if got := first.Upstream.InFlight(); got != 2 {
		t.Errorf("two leases: got %d in flight", got)
	}
	var releasing sync.WaitGroup
	for range 10 {
		releasing.Go(first.Release)
	}
	releasing.Wait()
	if got := first.Upstream.InFlight(); got != 1 {
		t.Errorf("one released, ten times: got %d in flight, want 1", got)
	}
	second.Release()
	if got := first.Upstream.InFlight(); got != 0 {
		t.Errorf("both released: got %d in flight", got)
	}
}

func TestDrainingUpstreamGetsNoNewWork(t *testing.T) {
	p := poolOf("a", "b", "c")
	p.Find("a").Draining = true
	eject(t, p, p.Find("b"))
	for range 100 {
		lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "a"}, nil)
		if err != nil || lease.Upstream.Name != "c" {
			t.Fatalf("Pick: got %v, %v, want c", lease, err)
		}
	}
	// Better one that failed lately than one that was told to end.
	lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "a"}, []*routing.Upstream{p.Find("c")})
	if err != nil || lease.Upstream.Name != "b" {
		t.Errorf("Pick without c: got %v, %v, want b", lease, err)
	}
	if _, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "a"}, []*routing.Upstream{p.Find("b"), p.Find("c")}); !errors.Is(err, routing.ErrNoUpstream) {
		t.Errorf("Pick with only a draining one left: got %v, want ErrNoUpstream", err)
	}
}

func TestEjectedUpstreamsAreUsedIfNoneIsLeft(t *testing.T) {
	p := poolOf("a", "b")
	eject(t, p, p.Find("a"))
	for range 100 {
		if lease, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil); err != nil || lease.Upstream.Name != "b" {
			t.Fatalf("Pick: got %v, %v, want b", lease, err)
		}
	}
	lease, err := p.Pick(routing.Work{Era: mcp.EraModern}, []*routing.Upstream{p.Find("b")})
	if err != nil || lease.Upstream.Name != "a" {
		t.Errorf("Pick without b: got %v, %v, want a", lease, err)
	}
}

func TestPreferenceCountsOnlyIfFit(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, p *routing.Pool, u *routing.Upstream) (tried []*routing.Upstream)
		want  string
	}{
		"fit": {func(*testing.T, *routing.Pool, *routing.Upstream) []*routing.Upstream { return nil }, "a"},
		"draining": {func(_ *testing.T, _ *routing.Pool, u *routing.Upstream) []*routing.Upstream {
			u.Draining = true
			return nil
		}, "b"},
		"ejected": {func(t *testing.T, p *routing.Pool, u *routing.Upstream) []*routing.Upstream {
			eject(t, p, u)
			return nil
		}, "b"},
		"tried": {func(_ *testing.T, _ *routing.Pool, u *routing.Upstream) []*routing.Upstream {
			return []*routing.Upstream{u}
		}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := poolOf("a", "b")
			a := p.Find("a")
			tried := c.spoil(t, p, a)
			for range 10 { // a is the busier one, so that only a preference leads there
				p.Own(a)
			}
			lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "a"}, tried)
			if err != nil || lease.Upstream.Name != c.want {
				t.Errorf("Pick: got %v, %v, want %s", lease, err, c.want)
			}
		})
	}
	p := poolOf("a")
	if lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "removed"}, nil); err != nil || lease.Upstream.Name != "a" {
		t.Errorf("Pick with a preference that left the pool: got %v, %v, want a", lease, err)
	}
}
