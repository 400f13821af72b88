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
