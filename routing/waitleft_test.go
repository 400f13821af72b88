package routing

import "testing"

// An upstream that leaves the pool and comes back has the held calls that wait there for their clients: who drains it is told of them.
func TestWhatWaitsAtAnUpstreamThatComesBackCounts(t *testing.T) {
	p := NewPool(PoolOptions{Name: "p", Upstreams: []*Upstream{{Name: "a"}, {Name: "b"}}})
	defer p.Close()
	a := p.Find("a")
	a.Wait()
	p.Replace([]*Upstream{{Name: "b"}})
	p.Replace([]*Upstream{{Name: "a"}, {Name: "b"}})
	if got := p.Find("a").UnderWay(); got.Waiting != 1 || got.Held != 1 {
		t.Errorf("got %+v, want the call that waits", got)
	}
	a.WaitOver()
	if got := p.Find("a").UnderWay(); got.Sum() != 0 {
		t.Errorf("got %+v, want none", got)
	}
	a.Leave()
	p.Replace([]*Upstream{{Name: "b"}})
	p.Replace([]*Upstream{{Name: "a"}, {Name: "b"}})
	if got := p.Find("a").UnderWay(); got.Left != 1 {
		t.Errorf("got %+v, want the call that was left", got)
	}
}
