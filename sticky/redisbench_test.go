package sticky_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// onRedis are bindings on a server of their own that count what they do, as in production.
func onRedis(b *testing.B, near int) *sticky.Bindings {
	server := redistest.Start(b)
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	store, err := storage.Open(server.URL(), storage.Options{MeterProvider: meters})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return sticky.New(store, sticky.Options{Meter: meters, Near: near})
}

// cpu is what this process has taken so far.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // of this process it cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkRedis is what a request waits for that finds nothing in memory, and what a creation waits for, by one caller
// and by several at a time. To be run with -cpu 1.
func BenchmarkRedis(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // as a request has one
	defer cancel()
	made := sticky.Binding{Upstream: "a", Dialect: "extension", Status: "working", Tool: "make"}
	for _, callers := range []int{1, 8, 64} {
		run := func(name string, near int, do func(bindings *sticky.Bindings, n int) error) {
			b.Run(name+"/"+strconv.Itoa(callers), func(b *testing.B) {
				bindings := onRedis(b, near)
				for i := range 64 {
					if err := bindings.Bind(ctx, benchedKey(strconv.Itoa(i)), made, time.Hour); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				b.SetParallelism(callers)
				var n atomic.Int64
				b.ResetTimer()
				before := cpu()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := do(bindings, int(n.Add(1))); err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
		run("miss", 0, func(bindings *sticky.Bindings, n int) error {
			_, _, err := bindings.Lookup(ctx, benchedKey(strconv.Itoa(n%64)))
			return err
		})
		run("creation", 1000, func(bindings *sticky.Bindings, n int) error {
			return bindings.Bind(ctx, benchedKey("new-"+strconv.Itoa(n)), made, time.Hour)
		})
	}
}
