package series

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Meter returns a meter of provider. Nil is one whose instruments measure nothing.
func Meter(provider metric.MeterProvider, name string) metric.Meter {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	return provider.Meter(name)
}

// Gauge has an instrument show what observe returns, until end is called. The name must be well formed.
func Gauge(meter metric.Meter, name, description, unit string, observe func() int64) (end func()) {
	gauge, _ := meter.Int64ObservableGauge(name, metric.WithDescription(description), metric.WithUnit(unit))
	// A callback given with an instrument stays as long as that does.
	observing, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(gauge, observe())
		return nil
	}, gauge)
	return func() { _ = observing.Unregister() }
}

// Outcomes counts what went well, as "ok", and what did not, as "failed".
type Outcomes struct{ ok, failed func() }

// NewOutcomes returns a counter with an outcome beside these labels. The name must be well formed.
func NewOutcomes(meter metric.Meter, name, description string, labels ...attribute.KeyValue) Outcomes {
	counter, _ := meter.Int64Counter(name, metric.WithDescription(description))
	of := func(outcome string) func() {
		set := metric.WithAttributes(append(labels[:len(labels):len(labels)], attribute.String("outcome", outcome))...)
		counter.Add(context.Background(), 0, set)
		return func() { counter.Add(context.Background(), 1, set) }
	}
	return Outcomes{of("ok"), of("failed")}
}

// Count counts one outcome.
func (o Outcomes) Count(err error) {
	if err != nil {
		o.failed()
	} else {
		o.ok()
	}
}
