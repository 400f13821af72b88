package sticky

import (
	"context"
	"errors"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
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

	ofLookups  *series.Sets[counted]
	ofBindings *series.Sets[counted]
}

// counted is what look-ups and bindings are counted by: a kind, and where it was found or what
// became of it.
type counted struct {
	kind Kind
	by   string
}

func setsBy(label string) *series.Sets[counted] {
	return series.NewSets(func(c counted) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("kind", string(c.kind)), attribute.String(label, c.by)}
	})
}

func newMetrics(provider metric.MeterProvider) *metrics {
	meter := series.Meter(provider, "berth/sticky")
	m := &metrics{ofLookups: setsBy("source"), ofBindings: setsBy("outcome")}
	// Creating an instrument fails on a malformed name only.
	m.lookups, _ = meter.Int64Counter("berth.lookups", metric.WithDescription("Look-ups of bindings, by where they were found."))
	m.bindings, _ = meter.Int64Counter("berth.bindings", metric.WithDescription("Bindings made; local: the store was away; collision: two upstreams gave out one id."))
	m.lost, _ = meter.Int64Counter("berth.bindings.refreshes_dropped", metric.WithDescription("Refreshes of bindings dropped because too many waited; the next answer tells anew."))
	kinds := series.Of("kind", string(Task), string(Session), string(Claim), string(Affinity), string(Hint))
	series.Begin(m.bindings, kinds, series.Of("outcome", outcomeStored, outcomeLocal, outcomeWrittenBack, outcomeCollision))
	series.Begin(m.lost)
	return m
}

func (m *metrics) lookup(ctx context.Context, kind Kind, source Source, err error) {
	switch {
	case errors.Is(err, ErrUnknown):
		source = "unknown"
	case err != nil:
		source = "unavailable"
	}
	m.lookups.Add(ctx, 1, m.ofLookups.Of(counted{kind, string(source)}).Add...)
}

func (m *metrics) bound(ctx context.Context, kind Kind, outcome string) {
	m.bindings.Add(ctx, 1, m.ofBindings.Of(counted{kind, outcome}).Add...)
}

func (m *metrics) dropped() { m.lost.Add(context.Background(), 1) }
