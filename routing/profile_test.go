package routing_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/routing"
)

func TestProfileIsWhatWasSaidLast(t *testing.T) {
	u := poolOf("a").Find("a")
	before := u.Profile()
	u.Declares(mcp.EraLegacy, offer.Offer{Versions: []string{"2025-06-18"}})
	u.Declares(mcp.EraLegacy, offer.Offer{Versions: []string{"2025-11-25"}})
	u.Declares(mcp.EraModern, offer.Offer{Versions: make([]string, 1000)})
	if len(before.Versions[mcp.EraLegacy]) != 0 {
		t.Error("a profile changes")
	}
	got := u.Profile()
	if v := got.Versions[mcp.EraLegacy]; len(v) != 1 || v[0] != "2025-11-25" {
		t.Errorf("got %v, want what was said last", got)
	}
	if got.Versions[mcp.EraModern] != nil {
		t.Error("what is too much is kept")
	}
}

// A modern server need not say who it is, and what would fill a page is no name.
func TestAServersNameStaysWhereNoOtherIsGiven(t *testing.T) {
	u := poolOf("a").Find("a")
	for _, server := range []string{"files 1", "files 2", "", strings.Repeat("x", 1000)} {
		u.Declares(mcp.EraModern, offer.Offer{Server: server})
	}
	if got := u.Profile().Server; got != "files 2" {
		t.Errorf("got %q, want what was given last", got)
	}
}

// Where an upstream was away for a while, another server may stand by now.
func TestProfileEndsWithASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("a", "b"), Probe: mute})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.Run(ctx)
		a, b := p.Find("a"), p.Find("b")
		p.Speaks(a, mcp.EraModern, nil)
		a.Declares(mcp.EraModern, offer.Offer{Versions: []string{"2026-07-28"}})
		p.FellSilent(a, errBroken)
		time.Sleep(time.Minute)
		if !p.SpokenElsewhere(b, mcp.EraModern) {
			t.Error("forgotten before it answers")
		}
		p.Answered(a)
		if p.SpokenElsewhere(b, mcp.EraModern) || a.Profile().Versions[mcp.EraModern] != nil {
			t.Errorf("got %v, want nothing known", a.Profile())
		}
	})
}

func TestWhatIsKnownAlreadyCostsNothing(t *testing.T) {
	p := poolOf("a", "b")
	a := p.Find("a")
	p.Speaks(a, mcp.EraModern, nil)
	a.Declares(mcp.EraModern, offer.Offer{Versions: []string{"2026-07-28"}})
	if n := testing.AllocsPerRun(100, func() {
		p.Speaks(a, mcp.EraModern, nil)
		a.Declares(mcp.EraModern, offer.Offer{Versions: []string{"2026-07-28"}})
	}); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}
