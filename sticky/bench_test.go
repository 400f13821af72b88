package sticky_test

import (
	"strconv"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// benched are bindings in memory that count what they do, as in production.
func benched(b *testing.B) *sticky.Bindings {
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	store, err := storage.Open("memory:", storage.Options{MeterProvider: meters})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return sticky.New(store, sticky.Options{Meter: meters, Near: 100_000})
}

func benchedKey(id string) sticky.Key {
	return sticky.Key{Kind: sticky.Task, Pool: "default", ID: id}
}

// BenchmarkLookup is what each poll asks.
func BenchmarkLookup(b *testing.B) {
	bindings, key := benched(b), benchedKey("786512e2-9e0d-44bd-8f29-789f320fe840")
	if err := bindings.Bind(b.Context(), key, sticky.Binding{Upstream: "a"}, time.Hour); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := bindings.Lookup(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBind is what each creation waits for.
func BenchmarkBind(b *testing.B) {
	bindings := benched(b)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if err := bindings.Bind(b.Context(), benchedKey(strconv.Itoa(n)), sticky.Binding{Upstream: "a"}, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMany is what polls and creations cost beside so many bindings: the memory engine, with a near cache in front
// that holds as many.
func BenchmarkMany(b *testing.B) {
	for _, size := range []int{10_000, 1_000_000} {
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
		store, err := storage.Open("memory:", storage.Options{MeterProvider: meters})
		if err != nil {
			b.Fatal(err)
		}
		bindings := sticky.New(store, sticky.Options{Meter: meters, Near: size})
		keys := make([]sticky.Key, size)
		bind := func(key sticky.Key) {
			if err := bindings.Bind(b.Context(), key, sticky.Binding{Upstream: "a", Dialect: "extension", Status: "working"}, time.Hour); err != nil {
				b.Fatal(err)
			}
		}
		for i := range keys {
			keys[i] = benchedKey("786512e2-9e0d-44bd-8f29-" + strconv.Itoa(i))
			bind(keys[i])
		}
		b.Run("lookup/"+strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, _, err := bindings.Lookup(b.Context(), keys[n*7919%size]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("bind/"+strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				bind(benchedKey("new-" + strconv.Itoa(n)))
			}
		})
		_ = store.Close()
	}
}
