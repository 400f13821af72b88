package routing_test

import (
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/routing"
)

// moved are upstreams of these names at another address.
func moved(host string, names ...string) []*routing.Upstream {
	list := upstreams(names...)
	for _, u := range list {
		u.URL = &url.URL{Scheme: "http", Host: host}
	}
	return list
}

// What is known of an upstream stays with its name, wherever it is now.
func TestReplaceKeepsLiveStateByName(t *testing.T) {
	p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: moved("old", "a", "b", "c"), Probe: mute})
	a, b, c := p.Find("a"), p.Find("b"), p.Find("c")
	eject(t, p, a)
	p.FellSilent(b, errBroken)
	p.Answered(c)
	c.Declares(mcp.EraLegacy, offer.Offer{Versions: []string{"2025-11-25"}})
	lease := p.Own(c)
	p.Replace(moved("new", "c", "b", "a", "d"))
	for _, u := range p.Upstreams() {
		if u.URL.Host != "new" {
			t.Errorf("%s is at %s, want new", u.Name, u.URL.Host)
		}
	}
	if !p.Find("a").Ejected() || !p.Find("b").Silent() || p.Find("c").Answers() != 1 || p.Find("c").InFlight() != 1 {
		t.Errorf("a ejected: %t, b silent: %t, c with %d answers and %d in flight, want true, true, 1, 1",
			p.Find("a").Ejected(), p.Find("b").Silent(), p.Find("c").Answers(), p.Find("c").InFlight())
	}
	if got := p.Find("c").Profile(); len(got.Versions[mcp.EraLegacy]) != 1 {
		t.Errorf("c's profile: got %v", got)
	}
	if d := p.Find("d"); d.Ejected() || d.Silent() || d.InFlight() != 0 || d.Is(c) || !p.Find("c").Is(c) {
		t.Error("a new upstream is not as new, or one that stays is another")
	}
	lease.Release()
	p.Answered(b)
	if p.Find("c").InFlight() != 0 || p.Find("b").Silent() {
		t.Errorf("c has %d in flight, b is silent: %t; want what the former list's tell", p.Find("c").InFlight(), p.Find("b").Silent())
	}
	if lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "c"}, []*routing.Upstream{c}); err != nil || lease.Upstream.Name == "c" {
		t.Errorf("Pick: got %v, %v, want another than c, which was tried before it moved", lease, err)
	}
}

// Draining is the list's to say.
func TestReplaceDrainsAsTheListSays(t *testing.T) {
	p := poolOf("a", "b")
	next := upstreams("a", "b")
	next[0].Draining = true
	p.Replace(next)
	if lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "a"}, nil); err != nil || lease.Upstream.Name != "b" {
		t.Errorf("Pick: got %v, %v, want b", lease, err)
	}
	p.Replace(upstreams("a"))
	if lease, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil); err != nil || lease.Upstream.Name != "a" {
		t.Errorf("Pick: got %v, %v, want a", lease, err)
	}
}

// A lease on one that left is given back as any other; until then its name remembers it.
func TestLeaseOutlivesItsMember(t *testing.T) {
	p := poolOf("a", "b")
	lease := p.Own(p.Find("a"))
	eject(t, p, p.Find("a"))
	p.Replace(upstreams("b"))
	if got := p.Find("a"); got != nil {
		t.Fatalf("Find: got %v, want none", got)
	}
	p.Replace(upstreams("a", "b"))
	if a := p.Find("a"); a.InFlight() != 1 || !a.Ejected() {
		t.Errorf("back while its call runs: %d in flight, ejected: %t, want 1, true", a.InFlight(), a.Ejected())
	}
	p.Replace(upstreams("b"))
	lease.Release()
	if got := lease.Upstream.InFlight(); got != 0 {
		t.Errorf("released: got %d in flight", got)
	}
	p.Replace(upstreams("b"))
	p.Replace(upstreams("a", "b"))
	if a := p.Find("a"); a.InFlight() != 0 || a.Ejected() {
		t.Errorf("back after its call: %d in flight, ejected: %t, want a new one", a.InFlight(), a.Ejected())
	}
}

// Whoever chooses, asks, notes and holds meanwhile finds a whole pool, and every lease counts
// where its name is looked for.
func TestReplaceUnderLoad(t *testing.T) {
	const replacers, rounds, pickers = 4, 200, 8
	p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("stays", "0", "1"), Probe: mute})
	held := p.Own(p.Find("stays"))
	var ended atomic.Bool
	var replacing, picking sync.WaitGroup
	for i := range replacers {
		replacing.Go(func() {
			for n := range rounds {
				p.Replace(moved(strconv.Itoa(n), "stays", strconv.Itoa((i+n)%5), strconv.Itoa((i+n)%5+5)))
			}
		})
	}
	for range pickers {
		picking.Go(func() {
			for !ended.Load() {
				churn(t, p)
			}
		})
	}
	replacing.Wait()
	ended.Store(true)
	picking.Wait()
	if got := p.Find("stays").InFlight(); got != 1 {
		t.Errorf("the one that stays: got %d in flight, want the one that is held", got)
	}
	held.Release()
	p.Replace(upstreams("stays", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"))
	for _, u := range p.Upstreams() {
		if got := u.InFlight(); got != 0 {
			t.Errorf("%s: got %d in flight, want none", u.Name, got)
		}
	}
}

// churn is what a request does with a pool.
func churn(t *testing.T, p *routing.Pool) {
	lease, err := p.Pick(routing.Work{Era: mcp.EraModern, Prefer: "3"}, nil)
	if err != nil {
		t.Error("a pool without upstreams was seen")
		return
	}
	defer lease.Release()
	p.Succeeded(lease.Upstream)
	p.Speaks(lease.Upstream, mcp.EraModern, nil)
	lease.Upstream.Declares(mcp.EraModern, offer.Offer{Versions: []string{"2026-07-28"}})
	if stays := p.Find("stays"); stays == nil || stays.InFlight() < 1 || len(p.Upstreams()) != 3 {
		t.Errorf("the one that stays: got %v among %v", stays, p.Names())
	}
	lease.Release()
}
