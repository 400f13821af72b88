package discover_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"berth/internal/discover"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// scrape returns what is shown, by name and labels.
func scrape(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	shown := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					shown[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = float64(p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					shown[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Value
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					shown[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = float64(p.Value)
				}
			}
		}
	}
	return shown
}

// A pool without a source shows nothing, and one that is gone does not, either.
func TestMetricsAreOfPoolsWithASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		m := discover.New(discover.Options{
			Pool: "p", Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
			Holds: func(string) discover.Hold { return discover.Hold{Owned: 1} }, Changed: func([]discover.Instance, bool) {},
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = m.Run(ctx) }()
		if got := scrape(t, reader); len(got) != 0 {
			t.Errorf("without a source: got %v", got)
		}
		s := make(told)
		m.Follow(discover.Plan{Source: s, Key: "1", Rules: rules})
		s <- answer{names: "a b c"}
		s <- answer{names: "c"}
		s <- answer{err: errors.New("not well")}
		synctest.Wait()
		got := fmt.Sprint(scrape(t, reader))
		const want = "map[berth.discovery.answers outcome=failed,pool=p:1 berth.discovery.answers outcome=ok,pool=p:2 berth.discovery.last.success pool=p:9.466848e+08 " +
			"berth.discovery.upstreams pool=p,state=draining:0 berth.discovery.upstreams pool=p,state=left:2 berth.discovery.upstreams pool=p,state=present:1]"
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		stop()
		<-done
		m.Close()
		if got := scrape(t, reader); len(got) != 2 { // what was counted stays
			t.Errorf("over: got %v", got)
		}
	})
}
