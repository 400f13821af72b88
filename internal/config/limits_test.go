package config

import "testing"

// No caller has all that a berth takes because only the whole was made smaller.
func TestACallersShareGivesWayToAHalf(t *testing.T) {
	for text, want := range map[string][2]int{
		"":                           {2500, 10_000},
		"in_flight = 100":            {50, 10_000},
		"in_flight = 1\nstreams = 1": {1, 1},
		"in_flight = 100000":         {2500, 10_000},
		"in_flight = 100\nin_flight_per_caller = 100\nstreams = 30\nstreams_per_caller = 20": {100, 20},
	} {
		cfg, err := Parse("f", []byte("[limits]\n"+text+"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{cfg.Limits.EffectiveInFlightPerCaller(), cfg.Limits.EffectiveStreamsPerCaller()}; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
