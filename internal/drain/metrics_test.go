package drain_test

import (
	"context"
	"maps"
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

// Which upstreams drain is told as it is, also before anything was counted, as where berth has started while the store is away.
func TestTheGaugeOfDrainsNeedsNoStore(t *testing.T) {
	store, reader := storagetest.OpenMemory(t), sdkmetric.NewManualReader()
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{{Name: "a"}, {Name: "b", Draining: true}}})
	drain.New(drain.Options{
		Name: "one", Store: store, Bindings: sticky.New(store, sticky.Options{}),
		Pools: func() []*routing.Pool { return []*routing.Pool{pool} }, Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if got := drainsOf(t, reader); !maps.Equal(got, map[string]int64{"a": 0, "b": 1}) {
		t.Errorf("got %v, want that b drains", got)
	}
	pool.Replace([]*routing.Upstream{{Name: "a", Draining: true}, {Name: "b"}})
	if got := drainsOf(t, reader); !maps.Equal(got, map[string]int64{"a": 1, "b": 0}) {
		t.Errorf("after a change of the file: got %v, want that a drains", got)
	}
}

// drainsOf is berth.upstream.draining, by upstream.
func drainsOf(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	got := map[string]int64{}
	eachPoint(t, reader, func(name, upstream string, value int64) {
		if name == "berth.upstream.draining" {
			got[upstream] = value
		}
	})
	return got
}

// pointsOf is how many points are of this upstream.
func pointsOf(t *testing.T, reader *sdkmetric.ManualReader, upstream string) (n int) {
	t.Helper()
	eachPoint(t, reader, func(_, of string, _ int64) {
		if of == upstream {
			n++
		}
	})
	return n
}

// eachPoint calls show with each point of gauges.
func eachPoint(t *testing.T, reader *sdkmetric.ManualReader, show func(name, upstream string, value int64)) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			gauge, _ := m.Data.(metricdata.Gauge[int64])
			for _, point := range gauge.DataPoints {
				of, _ := point.Attributes.Value("upstream")
				show(m.Name, of.AsString(), point.Value)
			}
		}
	}
}
