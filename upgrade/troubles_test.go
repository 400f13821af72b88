package upgrade

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/trouble"
	"berth/upgrade/task"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A call that lost its berth is an orphan, whether another one goes on with it or not; what is lost with it
// is counted apart.
func TestOrphansAreTroubles(t *testing.T) {
	for policy, want := range map[OrphanPolicy]struct {
		became string
		lost   int
	}{task.OrphanFail: {"failed", 1}, task.OrphanRerun: {"adopted", 0}} {
		synctest.Test(t, func(t *testing.T) {
			book := trouble.New(nil)
			berths := startBerths(t, 2, settings{book: book}, newTool())
			time.Sleep(time.Second)
			id := berths[0].hand(t, rule(func(r *Rule) { r.OnOrphan = policy }), "call hang")
			synctest.Wait()
			berths[0].kill()
			time.Sleep(graceful)
			synctest.Wait()
			orphans, _ := book.Events(trouble.Orphans)
			if len(orphans) != 1 || orphans[0].ID != id || orphans[0].What != want.became || orphans[0].Pool != poolName {
				t.Errorf("%s: got %+v, want one that was %s", policy, orphans, want.became)
			}
			if lost, _ := book.Events(trouble.HolderLost); len(lost) != want.lost {
				t.Errorf("%s: got %+v as lost", policy, lost)
			}
		})
	}
}

// Who looks at a berth learns how many tasks wait and run, and since when.
func TestLiveTasksAreShownByState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		berths := startBerths(t, 1, settings{meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}, newTool())
		time.Sleep(time.Second)
		one := rule(func(r *Rule) { r.Concurrency = 1 })
		berths[0].hand(t, one, "call hang")
		synctest.Wait()
		time.Sleep(10 * time.Second)
		berths[0].hand(t, one, "call hang")
		berths[0].hand(t, one, "call hang")
		synctest.Wait()
		time.Sleep(5 * time.Second)
		got := gaugesByState(t, reader)
		for name, want := range map[string]float64{
			"berth.upgrade.live dispatched": 1, "berth.upgrade.live queued": 2, "berth.upgrade.live accepted": 0,
			"berth.upgrade.oldest dispatched": 15, "berth.upgrade.oldest queued": 5, "berth.upgrade.oldest accepted": 0,
		} {
			if n, ok := got[name]; !ok || n != want {
				t.Errorf("%s: got %v, want %v", name, n, want)
			}
		}
	})
}

// A call that asks its client while it runs waits for that, and not for its server.
func TestACallThatAsksIsShownAsOneThatWaitsForInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, old := sdkmetric.NewManualReader(), &oldServer{replays: true}
		berths := startBerths(t, 1, settings{old: old, meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}, newTool())
		time.Sleep(testLease)
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 0).ask("1")
		soon()
		if got := gaugesByState(t, reader); got["berth.upgrade.live input_required"] != 1 || got["berth.upgrade.live dispatched"] != 0 || got["berth.upgrade.oldest input_required"] <= 0 {
			t.Errorf("while it asks: %v", got)
		}
		berths[0].Sessions.Settle(t.Context(), id, []byte("1"))
		soon()
		if got := gaugesByState(t, reader); got["berth.upgrade.live input_required"] != 0 || got["berth.upgrade.live dispatched"] != 1 {
			t.Errorf("answered: %v", got)
		}
	})
}

// gaugesByState are the newest values of gauges, by name and state.
func gaugesByState(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				state, _ := p.Attributes.Value("state")
				got[m.Name+" "+state.AsString()] += float64(p.Value)
			}
		case metricdata.Gauge[float64]:
			for _, p := range data.DataPoints {
				state, _ := p.Attributes.Value("state")
				got[m.Name+" "+state.AsString()] += p.Value
			}
		}
	}
	return got
}
