package bridge

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// What becomes of something that an upstream asks in mid-call.
const (
	wasAsked      = "asked"      // the client is shown it,
	wasSettled    = "settled"    // and has answered,
	wasAbandoned  = "abandoned"  // or did not come back
	wasWithdrawn  = "withdrawn"  // by the upstream, before the client was shown it
	wasUndeclared = "undeclared" // the client has not declared that it answers such
)

// metrics are what operators see of a bridge.
type metrics struct {
	pool      attribute.KeyValue
	questions metric.Int64Counter
	end       func() // stops observing
}

func newMetrics(provider metric.MeterProvider, b *Bridge) metrics {
	meter := series.Meter(provider, "berth/bridge")
	pool := b.options().Endpoint.Router.Pool.Name()
	m := metrics{pool: attribute.String("pool", pool)}
	m.questions, _ = meter.Int64Counter("berth.bridge.questions", metric.WithDescription("What legacy upstreams asked modern clients in mid-call."))
	series.Begin(m.questions, series.Of("pool", pool), series.Of("outcome", wasAsked, wasSettled, wasAbandoned, wasWithdrawn, wasUndeclared))
	sessions, _ := meter.Int64ObservableGauge("berth.bridge.sessions", metric.WithDescription("Sessions open at a legacy upstream for modern clients."))
	waiting, _ := meter.Int64ObservableGauge("berth.bridge.waiting", metric.WithDescription("Calls that wait for their client's answer, or have ended a moment ago."))
	observing, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, f := range b.faces {
			at := metric.WithAttributes(m.pool, attribute.String("upstream", name))
			f.mu.Lock()
			o.ObserveInt64(sessions, int64(f.open), at)
			f.mu.Unlock()
			o.ObserveInt64(waiting, int64(f.holds.size()), at)
		}
		return nil
	}, sessions, waiting)
	m.end = func() { _ = observing.Unregister() }
	return m
}

// asked counts what became of n questions.
func (m metrics) asked(outcome string, n int) {
	m.questions.Add(context.Background(), int64(n), metric.WithAttributes(m.pool, attribute.String("outcome", outcome)))
}
