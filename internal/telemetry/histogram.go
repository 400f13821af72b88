package telemetry

import (
	"context"
	"math"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// histogram is a metric.Float64Histogram.
type histogram struct {
	embedded.Float64Histogram
	meaning
	bounds []float64
	cells  cells[times]
}

// times is a series.Times.
type times struct {
	bounds []float64       // the last bucket has none
	counts []atomic.Uint64 // by bucket
	sum    atomic.Uint64   // as bits of a float64
}

func newTimes(bounds []float64) *times {
	return &times{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Record adds to the sum first, so that who reads the counts first finds in it all that they count.
func (t *times) Record(value float64) {
	for {
		before := t.sum.Load()
		if t.sum.CompareAndSwap(before, math.Float64bits(math.Float64frombits(before)+value)) {
			break
		}
	}
	t.counts[sort.SearchFloat64s(t.bounds, value)].Add(1)
}

// Series is what package series looks up once.
func (h *histogram) Series(attributes attribute.Set) series.Times { return h.cells.of(attributes) }

// Record implements metric.Float64Histogram.
func (h *histogram) Record(_ context.Context, value float64, o ...metric.RecordOption) {
	says := metric.NewRecordConfig(o)
	h.cells.of(says.Attributes()).Record(value)
}

// Enabled implements metric.Float64Histogram.
func (*histogram) Enabled(context.Context) bool { return true }

func (h *histogram) forget(attributes []attribute.KeyValue) { h.cells.forget(attributes) }

func (h *histogram) collect(now time.Time) metricdata.Aggregation {
	all := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
	h.cells.each(func(attributes attribute.Set, one *times) {
		point := metricdata.HistogramDataPoint[float64]{Attributes: attributes, StartTime: h.since, Time: now, Bounds: h.bounds}
		for i := range one.counts {
			n := one.counts[i].Load()
			point.BucketCounts = append(point.BucketCounts, n)
			point.Count += n
		}
		point.Sum = math.Float64frombits(one.sum.Load())
		all.DataPoints = append(all.DataPoints, point)
	})
	if len(all.DataPoints) == 0 {
		return nil
	}
	return all
}

// durationBuckets, in seconds, are those that the semantic conventions for MCP recommend.
var durationBuckets = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// boundsOf are the bounds of a histogram's buckets: those of the conventions, which mcpconv does not bring; those that it
// brings; the SDK's.
func boundsOf(name string, says metric.Float64HistogramConfig) []float64 {
	if strings.HasPrefix(name, "mcp.") && strings.HasSuffix(name, ".duration") && says.Unit() == "s" {
		return durationBuckets
	}
	if bounds := says.ExplicitBucketBoundaries(); bounds != nil {
		return bounds
	}
	usual, _ := sdkmetric.DefaultAggregationSelector(sdkmetric.InstrumentKindHistogram).(sdkmetric.AggregationExplicitBucketHistogram)
	return usual.Boundaries
}
