package certs

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

type metrics struct {
	handshakes metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, c *Certs) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/certs")
	var m metrics
	// Creating an instrument fails on a malformed name only.
	m.handshakes, _ = meter.Int64Counter("berth.tls.handshakes", metric.WithDescription("TLS handshakes with clients, by outcome."))
	series.Begin(m.handshakes, series.Of("outcome", "ok", "failed"))
	_, _ = meter.Int64ObservableGauge("berth.tls.certificate.expiry", metric.WithUnit("s"),
		metric.WithDescription("When the certificate that clients are shown expires, in seconds since 1970."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(c.Expiry().Unix())
			return nil
		}))
	return m
}

func (m metrics) shookHands(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.handshakes.Add(context.Background(), 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
