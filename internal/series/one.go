package series

import (
	"context"

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
