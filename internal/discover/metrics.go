package discover

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

type metrics struct{ answers series.Outcomes }

func newMetrics(provider metric.MeterProvider, pool string, m *Members) metrics {
	meter := series.Meter(provider, "berth/discover")
	of := attribute.String("pool", pool)
	// Creating an instrument fails on a malformed name only, registering on instruments of another meter.
	last, _ := meter.Float64ObservableGauge("berth.discovery.last.success", metric.WithUnit("s"),
		metric.WithDescription("When the source of a pool's instances answered last, in seconds since 1970; 0: never."))
	upstreams, _ := meter.Int64ObservableGauge("berth.discovery.upstreams", metric.WithDescription("Discovered upstreams, by state."))
	_, _ = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		status, states := m.observe()
		if status.Source == "" && states == (counts{}) {
			return nil
		}
		seconds := 0.0
		if !status.Last.IsZero() {
			seconds = float64(status.Last.UnixMilli()) / 1000
		}
		o.ObserveFloat64(last, seconds, metric.WithAttributes(of))
		for i, state := range []string{"present", "draining", "left"} {
			o.ObserveInt64(upstreams, states[i], metric.WithAttributes(of, attribute.String("state", state)))
		}
		return nil
	}, last, upstreams)
	return metrics{series.NewOutcomes(meter, "berth.discovery.answers", "What a source of instances was asked, by outcome.", of)}
}

// counts counts instances: present, draining though their source tells of them, left.
type counts [3]int64

func (m *Members) observe() (status Status, states counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.roster.known {
		switch {
		case !e.left.IsZero():
			states[2]++
		case e.Draining:
			states[1]++
		default:
			states[0]++
		}
	}
	return m.status, states
}
