package discover

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics are those of a pool that has a source, or had one.
type metrics struct {
	answers series.Outcomes
	shown   metric.Registration
}

func newMetrics(provider metric.MeterProvider, pool string, m *Members) *metrics {
	meter := series.Meter(provider, "berth/discover")
	of := attribute.String("pool", pool)
	// Creating an instrument fails on a malformed name only, registering on instruments of another meter.
	last, _ := meter.Float64ObservableGauge("berth.discovery.last.success", metric.WithUnit("s"),
		metric.WithDescription("When the source of instances answered last, in seconds since 1970; 0: never."))
	upstreams, _ := meter.Int64ObservableGauge("berth.discovery.upstreams", metric.WithDescription("Discovered upstreams."))
	shown, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		status, states := m.observe()
		seconds := 0.0
		if !status.Last.IsZero() {
			seconds = float64(status.Last.UnixMilli()) / 1000
		}
		o.ObserveFloat64(last, seconds, metric.WithAttributes(of))
		for i, state := range stateNames {
			o.ObserveInt64(upstreams, states[i], metric.WithAttributes(of, attribute.String("state", state)))
		}
		return nil
	}, last, upstreams)
	return &metrics{series.NewOutcomes(meter, "berth.discovery.answers", "Questions to a source of instances.", of), shown}
}

// end has nothing be shown any more.
func (m *metrics) end() {
	if m != nil {
		_ = m.shown.Unregister()
	}
}

// stateNames are what an instance may be: told of, told of as one that drains, told of no more.
var stateNames = [...]string{"present", "draining", "left"}

func (m *Members) observe() (status Status, states [len(stateNames)]int64) {
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
