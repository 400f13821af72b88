package routing_test

import (
	"fmt"
	"slices"
	"testing"

	"berth/internal/series"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
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

// forgetful is a provider that notes of whom it is to forget what it has measured.
type forgetful struct {
	metric.MeterProvider
	forgotten []string
}

func (f *forgetful) Forget(attributes ...attribute.KeyValue) {
	f.forgotten = append(f.forgotten, fmt.Sprintf("%s/%s", attributes[0].Value.AsString(), attributes[1].Value.AsString()))
}

// What is measured of an upstream begins as it joins, and goes once nothing is under way there any more.
func TestMetricsOfAnUpstreamComeAndGoWithIt(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := &forgetful{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams("a", "b"), Meter: provider})
	counter, _ := provider.Meter("t").Int64Counter("t.things")
	for range 2 {
		pool.Begin(counter, series.Of("reason", "one"))
	}
	lease, err := pool.Pick(routing.Work{Prefer: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	busy := lease.Upstream.Name
	pool.Replace(upstreams("c"))
	if len(provider.forgotten) != 1 || slices.Contains(provider.forgotten, "p/"+busy) {
		t.Errorf("forgotten %v, with work under way at %s", provider.forgotten, busy)
	}
	lease.Release()
	pool.Replace(upstreams("c", "d"))
	slices.Sort(provider.forgotten)
	if !slices.Equal(provider.forgotten, []string{"p/a", "p/b"}) {
		t.Errorf("forgotten %v", provider.forgotten)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	begun := map[string]int{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok {
				continue
			}
			for _, point := range sum.DataPoints {
				if upstream, ok := point.Attributes.Value("upstream"); ok {
					begun[m.Name+" "+upstream.AsString()]++
				}
			}
		}
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if begun["t.things "+name] != 1 || begun["berth.upstream.ejections "+name] != 1 {
			t.Errorf("%s: begun are %v", name, begun)
		}
	}
}
