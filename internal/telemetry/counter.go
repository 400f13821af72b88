package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counter is a metric.Int64Counter.
type counter struct {
	embedded.Int64Counter
	meaning
	cells cells[count]
}

// count is a series.Count.
type count struct{ n atomic.Int64 }

func (c *count) Add(n int64) { c.n.Add(n) }

// Series is what package series looks up once.
func (c *counter) Series(attributes attribute.Set) series.Count { return c.cells.of(attributes) }

// Add implements metric.Int64Counter.
func (c *counter) Add(_ context.Context, n int64, o ...metric.AddOption) {
	says := metric.NewAddConfig(o)
	c.cells.of(says.Attributes()).Add(n)
}

// Enabled implements metric.Int64Counter.
func (*counter) Enabled(context.Context) bool { return true }

func (c *counter) forget(attributes []attribute.KeyValue) { c.cells.forget(attributes) }

func (c *counter) collect(now time.Time) metricdata.Aggregation {
	sum := metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	c.cells.each(func(attributes attribute.Set, one *count) {
		sum.DataPoints = append(sum.DataPoints, metricdata.DataPoint[int64]{Attributes: attributes, StartTime: c.since, Time: now, Value: one.n.Load()})
	})
	if len(sum.DataPoints) == 0 {
		return nil
	}
	return sum
}
