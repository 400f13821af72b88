package sticky

import (
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
	outcomeNoRoom      = "no_room"   // its caller keeps as much as one may
)

// What look-ups count by that found nothing, beside each Source.
const (
	lookupUnknown     = "unknown"
	lookupUnavailable = "unavailable"
)

type metrics struct {
	lookups  *series.Kept[counted, series.Count]
	bindings *series.Kept[counted, series.Count]
	lost     series.Count
}

// counted is what look-ups and bindings are counted by: a kind, and where it was found or what
// became of it.
type counted struct {
	kind Kind
	by   string
}

func (c counted) place() uint { return series.PlaceOf(string(c.kind)) + 3*series.PlaceOf(c.by) }

func countsBy(label string, counter metric.Int64Counter) *series.Kept[counted, series.Count] {
	return series.KeepCounts(counter, func(c counted) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("kind", string(c.kind)), attribute.String(label, c.by)}
	}).Spread(counted.place)
}

func newMetrics(provider metric.MeterProvider) *metrics {
	meter := series.Meter(provider, "berth/sticky")
	// Creating an instrument fails on a malformed name only.
	lookups, _ := meter.Int64Counter("berth.lookups", metric.WithDescription("Look-ups of bindings, by where they were found."))
	bindings, _ := meter.Int64Counter("berth.bindings", metric.WithDescription("Bindings made; local: the store was away; collision: two upstreams gave out one id."))
	lost, _ := meter.Int64Counter("berth.bindings.refreshes_dropped", metric.WithDescription("Refreshes of bindings dropped because too many waited; the next answer tells anew."))
	kinds := series.Of("kind", string(Task), string(Session), string(Claim), string(Affinity), string(Hint))
	series.Begin(lookups, kinds, series.Of("source", string(SourceBound), string(SourceLRU), string(SourceStore), lookupUnknown, lookupUnavailable))
	series.Begin(bindings, kinds, series.Of("outcome", outcomeStored, outcomeLocal, outcomeWrittenBack, outcomeCollision, outcomeNoRoom))
	series.Begin(lost)
	return &metrics{countsBy("source", lookups), countsBy("outcome", bindings), series.CountOf(lost)}
}

func (m *metrics) lookup(kind Kind, source Source, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrUnknown):
		source = lookupUnknown
	default:
		source = lookupUnavailable
	}
	m.lookups.Of(counted{kind, string(source)}).Add(1)
}

func (m *metrics) bound(kind Kind, outcome string) {
	m.bindings.Of(counted{kind, outcome}).Add(1)
}

func (m *metrics) dropped() { m.lost.Add(1) }
