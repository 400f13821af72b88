package drain_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/drain"
	"berth/internal/seal"
	"berth/internal/storage/storagetest"
	"berth/routing"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// The gauges tell of upstreams that there are, from the moment that one is gone.
func TestGaugesTellOfNobodyWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, reader := storagetest.OpenMemory(t), sdkmetric.NewManualReader()
		ids := drain.NewIDs(seal.NewStoredKeyring(store))
		pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{{Name: "a"}, {Name: "b"}}})
		watch := drain.New(drain.Options{
			Name: "one", Store: store, IDs: ids, Bindings: sticky.New(store, sticky.Options{Hide: ids.Hide}),
			Pools: func() []*routing.Pool { return []*routing.Pool{pool} }, Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		})
		ctx, end := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = watch.Run(ctx)
		}()
		pass(time.Minute)
		for _, name := range []string{"a", "b"} {
			if n := pointsOf(t, reader, name); n != 6 { // berth.upstream.draining, and five kinds of berth.upstream.owned
				t.Errorf("of %s there are %d points, want 6", name, n)
			}
		}
		pool.Replace(pool.Upstreams()[:1])
		if n := pointsOf(t, reader, "b"); n != 0 {
			t.Errorf("of an upstream that is gone there are %d points", n)
		}
		if n := pointsOf(t, reader, "a"); n != 6 {
			t.Errorf("of the one that stays there are %d points, want 6", n)
		}
		end()
		<-over
	})
}

// pointsOf is how many points are of this upstream.
func pointsOf(t *testing.T, reader *sdkmetric.ManualReader, upstream string) (n int) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			gauge, _ := m.Data.(metricdata.Gauge[int64])
			for _, point := range gauge.DataPoints {
				if value, _ := point.Attributes.Value("upstream"); value.AsString() == upstream {
					n++
				}
			}
		}
	}
	return n
}
