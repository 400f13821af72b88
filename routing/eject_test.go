package routing

import (
	"sync"
	"testing"
)

// due is a pool of n upstreams that have all failed often enough.
func due(n int) *Pool {
	var upstreams []*Upstream
	for range n {
		u := new(Upstream)
		for range ejectAfter {
			u.health.fail()
		}
		upstreams = append(upstreams, u)
	}
	return NewPool(PoolOptions{Upstreams: upstreams})
}

// Two requests that fail at the same time may both find their upstream due: it is
// ejected once, and not for twice as long.
func TestAnUpstreamIsEjectedOnceAtATime(t *testing.T) {
	p := due(4)
	if got := p.eject(p.upstreams[0]); got != ejectionMin {
		t.Errorf("first: got %v, want %v", got, ejectionMin)
	}
	if got := p.eject(p.upstreams[0]); got != 0 {
		t.Errorf("second: got %v, want none", got)
	}
}

// Upstreams that fail at the same time, as when a switch goes down, must not be
// ejected beyond half of the pool because each was counted before the others.
func TestSimultaneousEjectionsStopAtHalf(t *testing.T) {
	for range 2000 {
		p := due(4)
		start := make(chan struct{})
		var ejecting sync.WaitGroup
		for _, u := range p.upstreams {
			ejecting.Go(func() {
				<-start
				p.eject(u)
			})
		}
		close(start)
		ejecting.Wait()
		out := 0
		for _, u := range p.upstreams {
			if u.Ejected() {
				out++
			}
		}
		if out != 2 {
			t.Fatalf("got %d of 4 ejected, want 2", out)
		}
	}
}
