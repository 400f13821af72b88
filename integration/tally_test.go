package integration

import "testing"

// tally is where a berth found the owners of polled tasks.
type tally struct {
	store, lru, asked int

	// away counts look-ups that Redis did not answer in time. Where nothing befell
	// it, the machine was busy elsewhere for a quarter of a second: then the fleet is
	// asked, and the test has nothing to say about it.
	away int
}

func (b *watched) tally(t testing.TB) tally {
	t.Helper()
	return tally{
		store: b.polls(t, "store"),
		lru:   b.polls(t, "lru"),
		asked: b.polls(t, "asked"),
		away:  b.metric(t, "berth_lookups_total", `source="unavailable"`),
	}
}

// wantByStore fails the test unless n polls since then were routed by the store, and
// the fleet was asked for none.
func (b *watched) wantByStore(t testing.TB, since tally, n int) {
	t.Helper()
	now := b.tally(t)
	store, asked, away := now.store-since.store, now.asked-since.asked, now.away-since.away
	if store+away < n || asked > away {
		t.Errorf("polls routed: got %d by the store and %d by asking the fleet (Redis was late for %d), want all %d by the store", store, asked, away, n)
	}
}
