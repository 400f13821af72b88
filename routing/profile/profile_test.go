package profile

import (
	"testing"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
)

// An upstream of which berth knows that it serves the modern era, and that says otherwise since, was replaced.
func TestAListWithoutTheEraEndsIt(t *testing.T) {
	says := func(versions ...string) offer.Offer { return offer.Offer{Versions: versions, Server: "s 1"} }
	for name, tc := range map[string]struct {
		era   mcp.Era
		says  offer.Offer
		keeps bool
	}{
		"legacy versions":                     {mcp.EraModern, says("2025-11-25"), false},
		"both":                                {mcp.EraModern, says("2025-11-25", "2026-07-28"), true},
		"none":                                {mcp.EraModern, says(), true},
		"what a legacy client has negotiated": {mcp.EraLegacy, says("2025-11-25"), true},
	} {
		var r Record
		r.Serves(mcp.EraModern)
		r.Declares(tc.era, tc.says)
		if speaks, known := r.SpeaksModern(SpokenUnsaid); speaks != tc.keeps || known != tc.keeps {
			t.Errorf("%s: modern: %v, known: %v", name, speaks, known)
		}
		r.Serves(mcp.EraModern)
		if r.Declares(tc.era, tc.says); r.Profile().Speaks[mcp.EraModern] != tc.keeps {
			t.Errorf("%s, said again: modern: %v", name, !tc.keeps)
		}
	}
}

// A server that was modern, and of the legacy era when it was asked since, is not taken for modern again before it shows that.
func TestWhatIsOfTheLegacyEraNowIsNotModern(t *testing.T) {
	var r Record
	r.Serves(mcp.EraModern)
	r.NoteLegacy(true)
	if speaks, known := r.SpeaksModern(SpokenUnsaid); speaks || !known {
		t.Errorf("of the legacy era: modern: %v, known: %v", speaks, known)
	}
	r.NoteLegacy(false)
	if speaks, known := r.SpeaksModern(SpokenUnsaid); speaks || known {
		t.Errorf("contradicted since: modern: %v, known: %v", speaks, known)
	}
}
