package routing_test

import (
	"testing"

	"berth/routing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A second pool's callback went with an instrument that stood already, and was dropped: only
// the first pool's upstreams had gauges.
func TestEveryPoolsUpstreamsAreMeasured(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	for pool, names := range map[string][]string{"first": {"a", "b"}, "second": {"a", "c"}} {
		routing.NewPool(routing.PoolOptions{Name: pool, Upstreams: upstreams(names...), Meter: provider})
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			gauge, ok := m.Data.(metricdata.Gauge[int64])
			if !ok {
				continue
			}
			for _, point := range gauge.DataPoints {
				pool, _ := point.Attributes.Value("pool")
				upstream, _ := point.Attributes.Value("upstream")
				got[m.Name+" "+pool.AsString()+"/"+upstream.AsString()] = true
			}
		}
	}
	for _, name := range []string{"berth.upstream.up", "berth.upstream.inflight", "berth.upstream.state"} {
		for _, upstream := range []string{"first/a", "first/b", "second/a", "second/c"} {
			if !got[name+" "+upstream] {
				t.Errorf("%s has no %s", name, upstream)
			}
		}
	}
}
