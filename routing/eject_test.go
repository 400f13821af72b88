package routing

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"berth/routing/health"
)

// due is a pool of n upstreams that have all failed often enough.
func due(n int) *Pool {
	var upstreams []*Upstream
	for i := range n {
		u, rule := &Upstream{Name: strconv.Itoa(i), live: new(live)}, health.Ejection{}.WithDefaults()
		for range rule.Failures {
			u.health.Fail(&rule)
		}
		upstreams = append(upstreams, u)
	}
	return NewPool(PoolOptions{Upstreams: upstreams})
}

// Two requests that fail at the same time may both find their upstream due: it is
// ejected once, and not for twice as long.
func TestAnUpstreamIsEjectedOnceAtATime(t *testing.T) {
	p, least := due(4), health.Ejection{}.WithDefaults().Min
	if got, _ := p.eject(p.Upstreams()[0], errors.New("broken")); got != least {
		t.Errorf("first: got %v, want %v", got, least)
	}
	if got, _ := p.eject(p.Upstreams()[0], errors.New("broken")); got != 0 {
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
		for _, u := range p.Upstreams() {
			ejecting.Go(func() {
				<-start
				p.eject(u, errors.New("broken"))
			})
		}
		close(start)
		ejecting.Wait()
		out := 0
		for _, u := range p.Upstreams() {
			if u.Ejected() {
				out++
			}
		}
		if out != 2 {
			t.Fatalf("got %d of 4 ejected, want 2", out)
		}
	}
}
