package peers

import (
	"context"
	"testing"
	"time"

	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/transport"
)

// Who is asked about a place gives it back if it is its own, and no call in its hands has to do with it: one that was taken on may
// be about to stand there. While it goes, calls run on in places that those are to give back who take them over.
func TestOnlyAPlaceThatNobodyStandsInIsGivenBack(t *testing.T) {
	for name, c := range map[string]struct {
		holder  string
		prepare func(p *Peers)
		free    bool
	}{
		"its own":                      {"", func(*Peers) {}, true},
		"another's":                    {"another", func(*Peers) {}, false},
		"it is about to hold the call": {"", func(p *Peers) { _, _ = p.runner.Calls.TryClaim("a") }, false},
		"it goes":                      {"", func(p *Peers) { p.runner.Calls.Close() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			p := newPeersOn(t, transport.Destination{Routing: routing.NewPool(routing.PoolOptions{Name: "p"})})
			if c.holder == "" {
				c.holder = p.ledger.Holder
			}
			list, place := p.ledger.Lists.SlotsOf("queue", "u"), ledger.PlacesOf("a", c.holder)+"b"
			if err := p.ledger.Lists.Add(ctx, list, place, time.Hour, 0); err != nil {
				t.Fatal(err)
			}
			c.prepare(p)
			p.answerFor(ctx, ledger.PlaceTopic(list, place))
			if left, err := p.ledger.Store.Members(ctx, list); err != nil || (len(left) == 0) != c.free {
				t.Errorf("left are %q, %v", left, err)
			}
		})
	}
}
