package reload

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

type metrics struct {
	what    attribute.KeyValue
	reloads metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, what string) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	m := metrics{what: attribute.String("what", what)}
	// Creating an instrument fails on a malformed name only.
	m.reloads, _ = provider.Meter("berth/reload").Int64Counter("berth.reloads", metric.WithDescription("Changed files that were read anew, by outcome."))
	series.Begin(m.reloads, series.Of("what", what), series.Of("outcome", "ok", "failed"))
	return m
}

func (m metrics) reloaded(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.reloads.Add(context.Background(), 1, metric.WithAttributes(m.what, attribute.String("outcome", outcome)))
}
