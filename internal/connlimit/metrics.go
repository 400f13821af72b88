package connlimit

import (
	"context"
	"sync/atomic"

	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

type metrics struct {
	refusals metric.Int64Counter
	count    *atomic.Int64 // of the same
}

func newMetrics(provider metric.MeterProvider, open func() int64) metrics {
	meter := series.Meter(provider, "berth/gate")
	m := metrics{count: new(atomic.Int64)}
	// Creating an instrument fails on a malformed name only.
	m.refusals, _ = meter.Int64Counter("berth.connections.refused", metric.WithDescription("Connections closed because their address held too many."))
	series.Begin(m.refusals)
	series.Gauge(meter, "berth.connections.open", "Connections of clients.", "", open)
	return m
}

func (m metrics) refused() {
	m.refusals.Add(context.Background(), 1)
	m.count.Add(1)
}
