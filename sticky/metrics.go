package sticky

import (
	"context"
	"errors"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Outcomes of a binding.
const (
	outcomeStored      = "stored"
	outcomeLocal       = "local" // the store is away
	outcomeWrittenBack = "written_back"
	outcomeCollision   = "collision" // another upstream owns the id
)

type metrics struct {
	lookups  metric.Int64Counter
	bindings metric.Int64Counter
	lost     metric.Int64Counter

	ofLookups  *series.Sets[lookedUp]
	ofBindings *series.Sets[boundAs]
}

// lookedUp are what look-ups are counted by.
type lookedUp struct {
	kind   Kind
	source Source
}

func (l lookedUp) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("kind", string(l.kind)), attribute.String("source", string(l.source))}
}

// boundAs is what bindings are counted by.
type boundAs struct {
	kind    Kind
	outcome string
}

func (b boundAs) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("kind", string(b.kind)), attribute.String("outcome", b.outcome)}
}

func newMetrics(provider metric.MeterProvider) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/sticky")
	m := metrics{ofLookups: series.NewSets(lookedUp.attributes), ofBindings: series.NewSets(boundAs.attributes)}
	// Creating an instrument fails on a malformed name only.
	m.lookups, _ = meter.Int64Counter("berth.lookups", metric.WithDescription("Look-ups of a binding, by kind and by where it was found."))
	m.bindings, _ = meter.Int64Counter("berth.bindings", metric.WithDescription("Bindings made, by kind and outcome."))
	m.lost, _ = meter.Int64Counter("berth.bindings.refreshes_dropped", metric.WithDescription("Refreshes of bindings dropped because too many waited."))
	kinds := series.Of("kind", string(Task), string(Session), string(Claim), string(Affinity), string(Hint))
	series.Begin(m.bindings, kinds, series.Of("outcome", outcomeStored, outcomeLocal, outcomeWrittenBack, outcomeCollision))
	series.Begin(m.lost)
	return m
}

func (m metrics) lookup(ctx context.Context, kind Kind, source Source, err error) {
	switch {
	case errors.Is(err, ErrUnknown):
		source = "unknown"
	case err != nil:
		source = "unavailable"
	}
	m.lookups.Add(ctx, 1, m.ofLookups.Of(lookedUp{kind, source}).Add...)
}

func (m metrics) bound(ctx context.Context, kind Kind, outcome string) {
	m.bindings.Add(ctx, 1, m.ofBindings.Of(boundAs{kind, outcome}).Add...)
}

func (m metrics) dropped() { m.lost.Add(context.Background(), 1) }
