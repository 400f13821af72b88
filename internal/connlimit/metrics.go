package connlimit

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

type metrics struct{ refusals metric.Int64Counter }

func newMetrics(provider metric.MeterProvider, open func() int64) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/gate")
	var m metrics
	// Creating an instrument fails on a malformed name only.
	m.refusals, _ = meter.Int64Counter("berth.connections.refused", metric.WithDescription("Connections closed because their address held too many."))
	series.Begin(m.refusals)
	_, _ = meter.Int64ObservableGauge("berth.connections.open",
		metric.WithDescription("Connections of clients."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(open())
			return nil
		}))
	return m
}

func (m metrics) refused() { m.refusals.Add(context.Background(), 1) }
