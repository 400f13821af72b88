package series

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Count is one series of a counter. It may be added to concurrently.
type Count interface{ Add(n int64) }

// Times is one series of a histogram. It may be recorded to concurrently.
type Times interface{ Record(value float64) }

// CountOf is counter's series with these attributes, which are looked up now and not with each Add, if the counter can
// do that: those of package telemetry can.
func CountOf(counter metric.Int64Counter, attributes ...attribute.KeyValue) Count {
	set := attribute.NewSet(attributes...)
	if c, ok := counter.(interface{ Series(attribute.Set) Count }); ok {
		return c.Series(set)
	}
	return anyCount{counter, []metric.AddOption{metric.WithAttributeSet(set)}}
}

// TimesOf is CountOf for a histogram.
func TimesOf(histogram metric.Float64Histogram, attributes ...attribute.KeyValue) Times {
	set := attribute.NewSet(attributes...)
	if h, ok := histogram.(interface{ Series(attribute.Set) Times }); ok {
		return h.Series(set)
	}
	return anyTimes{histogram, []metric.RecordOption{metric.WithAttributeSet(set)}}
}

// anyCount is a series of any counter.
type anyCount struct {
	counter metric.Int64Counter
	set     []metric.AddOption
}

func (c anyCount) Add(n int64) { c.counter.Add(context.Background(), n, c.set...) }

// anyTimes is a series of any histogram.
type anyTimes struct {
	histogram metric.Float64Histogram
	set       []metric.RecordOption
}

func (t anyTimes) Record(value float64) { t.histogram.Record(context.Background(), value, t.set...) }

// maxKept bounds the series that are kept. Instruments have as many (package telemetry).
const maxKept = 1000

// Kept are series that are often asked for, by what they are labelled with: each is looked up once. Its methods may be
// called concurrently.
type Kept[K comparable, S any] struct {
	make  func(K) S
	mu    sync.Mutex              // guards changes of known
	known atomic.Pointer[map[K]S] // what it points to does not change
}

// Keep returns those that make makes.
func Keep[K comparable, S any](make func(K) S) *Kept[K, S] {
	k := &Kept[K, S]{make: make}
	k.known.Store(&map[K]S{})
	return k
}

// KeepCounts returns those of a counter.
func KeepCounts[K comparable](counter metric.Int64Counter, attributes func(K) []attribute.KeyValue) *Kept[K, Count] {
	return Keep(func(key K) Count { return CountOf(counter, attributes(key)...) })
}

// Of returns what key stands for.
func (k *Kept[K, S]) Of(key K) S {
	if one, ok := (*k.known.Load())[key]; ok {
		return one
	}
	one := k.make(key)
	k.keep(key, one)
	return one
}

func (k *Kept[K, S]) keep(key K, one S) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := *k.known.Load()
	if len(known) >= maxKept {
		return
	}
	more := maps.Clone(known)
	more[key] = one
	k.known.Store(&more)
}
