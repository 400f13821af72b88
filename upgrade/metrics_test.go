package upgrade

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counts are the counters of a name that have counted, by their label outcome.
func counts(t *testing.T, reader *sdkmetric.ManualReader, name string) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if m.Name != name || !ok {
				continue
			}
			for _, point := range sum.DataPoints {
				if outcome, _ := point.Attributes.Value("outcome"); point.Value != 0 {
					found[outcome.AsString()] += point.Value
				}
			}
		}
	}
	return found
}

// counted runs a test of a call in a session, of whose streams none goes on where it was
// resumed if mute, and holds what was counted against what is wanted.
func counted(t *testing.T, mute bool, test func(t *testing.T, b *berth, old *oldServer, id string), want map[string]map[string]int64) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	meter := func(_ *testing.T, s *settings) { s.meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)) }
	oldWorld(t, meter, func(t *testing.T, berths []*berth, old *oldServer) {
		old.mute = mute
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		test(t, berths[0], old, id)
		for name, want := range want {
			if got := counts(t, reader, "berth.upgrade."+name); !maps.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	})
}

// A stream that broke is one that is resumed, however often that takes a request because
// nothing comes.
func TestResumptionsAreCounted(t *testing.T) {
	for outcome, change := range map[string]func(old *oldServer){
		"resumed":      func(*oldServer) {},
		"refused":      func(old *oldServer) { old.replays = false },
		"session_lost": func(old *oldServer) { old.denied = true },
	} {
		for _, mute := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, mute: %v", outcome, mute), func(t *testing.T) {
				counted(t, mute, func(t *testing.T, _ *berth, old *oldServer, _ string) {
					call := old.call(t, 0)
					call.progress(1)
					soon()
					old.mu.Lock()
					change(old)
					old.mu.Unlock()
					call.hangUp()
					time.Sleep(time.Minute)
					call.progress(2)
					time.Sleep(time.Minute)
					synctest.Wait()
				}, map[string]map[string]int64{"resumed": {outcome: 1}})
			})
		}
	}
}

// What tools ask is counted once, though streams are replayed, and so is its end.
func TestQuestionsAndEndsOfSessionsAreCounted(t *testing.T) {
	counted(t, false, func(t *testing.T, b *berth, old *oldServer, id string) {
		call := old.call(t, 0)
		for _, ask := range []string{"0", "1", "0", "2"} {
			call.ask(ask)
		}
		soon()
		b.Sessions.Settle(t.Context(), id, []byte("0"))
		call.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		soon()
		if _, held, err := b.Sessions.End(t.Context(), clientsKey(), behindKey(), nil); !held || err != nil {
			t.Fatalf("held %v, %v", held, err)
		}
		call.ask("3")
		soon()
		call.answer(`{}`)
		soon()
	}, map[string]map[string]int64{
		"questions":    {"asked": 3, "settled": 2, "withdrawn": 1, "refused": 1}, // the holder has refused what was open at the end
		"session_ends": {"held": 1, "told": 1},
	})
}
