package bridge

import (
	"context"

	"berth/internal/series"
	"berth/proxy/bridge/rounds"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics are what operators see of a bridge.
type metrics struct {
	questions rounds.Counter
	end       func() // stops observing
}

func newMetrics(provider metric.MeterProvider, b *Bridge) metrics {
	meter := series.Meter(provider, "berth/bridge")
	pool := b.options().Endpoint.Router.Pool.Name()
	m := metrics{questions: rounds.NewCounter(meter, pool)}
	sessions, _ := meter.Int64ObservableGauge("berth.bridge.sessions", metric.WithDescription("Sessions open at a legacy upstream for modern clients."))
	waiting, _ := meter.Int64ObservableGauge("berth.bridge.waiting", metric.WithDescription("Calls that wait for their client's answer, or have ended a moment ago."))
	observing, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, f := range b.faces {
			at := metric.WithAttributes(attribute.String("pool", pool), attribute.String("upstream", name))
			open, _ := f.sessions.Size()
			o.ObserveInt64(sessions, int64(open), at)
			o.ObserveInt64(waiting, int64(f.calls.Size()), at)
		}
		return nil
	}, sessions, waiting)
	m.end = func() { _ = observing.Unregister() }
	return m
}
