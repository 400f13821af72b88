package identity

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

type metrics struct {
	fetches metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, f *KeyFetcher) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/identity")
	var m metrics
	// Creating an instrument fails on a malformed name only.
	m.fetches, _ = meter.Int64Counter("berth.jwks.fetches", metric.WithDescription("Fetches of the issuer's signing keys, by outcome."))
	series.Begin(m.fetches, series.Of("outcome", "ok", "failed"))
	_, _ = meter.Int64ObservableGauge("berth.jwks.keys",
		metric.WithDescription("Signing keys of the issuer's in use."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			n := 0
			if keys := f.state.Load().keys; keys != nil {
				n = len(keys.keys)
			}
			o.Observe(int64(n))
			return nil
		}))
	return m
}

func (m metrics) fetched(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.fetches.Add(context.Background(), 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
