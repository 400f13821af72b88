package storage

import (
	"context"
	"errors"
	"time"

	"berth/internal/series"
	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

var counted = []string{
	engine.OpGet, engine.OpGetSome, engine.OpPutIfAbsent, engine.OpSwap, engine.OpPut, engine.OpEach, engine.OpDelete, engine.OpAddMember, engine.OpKeepMembers, engine.OpRemoveMember, engine.OpMembers, engine.OpListing, engine.OpPage, engine.OpNotify, engine.OpNow, engine.OpPing, engine.OpRate,
}

var reasons = []string{
	string(engine.ReasonTimeout), string(engine.ReasonRefused), string(engine.ReasonBreakerOpen), string(engine.ReasonBusy), string(engine.ReasonOOM), string(engine.ReasonReadonly), string(engine.ReasonLoading),
	string(engine.ReasonAuth), string(engine.ReasonDisk), string(engine.ReasonCorrupt), string(engine.ReasonUnreplicated), string(engine.ReasonOther),
}

// durationBuckets, in seconds, reach from a Redis on the same host to an operation that waited as
// long as it may.
var durationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

type metrics struct {
	errors   metric.Int64Counter
	duration *series.Kept[string, series.Times] // by operation
}

func newMetrics(provider metric.MeterProvider, healthy func() bool) *metrics {
	meter := series.Meter(provider, "berth/internal/storage")
	m := new(metrics)
	// Creating an instrument fails on a malformed name only.
	m.errors, _ = meter.Int64Counter("berth.store.errors",
		metric.WithDescription("Operations that found the store unavailable."), metric.WithUnit("{operation}"))
	duration, _ := meter.Float64Histogram("berth.store.operation.duration",
		metric.WithDescription("How long the store took, for what it was asked."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(durationBuckets...))
	m.duration = series.Keep(func(op string) series.Times { return series.TimesOf(duration, operation(op)) }).Spread(series.PlaceOf)
	series.Gauge(meter, "berth.store.healthy", "1 while the store answers, else 0.", "", func() int64 {
		if healthy() {
			return 1
		}
		return 0
	})
	series.Begin(m.errors, series.Of("operation", counted...), series.Of("reason", reasons...))
	return m
}

// record: what nobody was asked took no time, and would make an outage look fast.
func (m *metrics) record(ctx context.Context, op string, took time.Duration, err error) {
	f, failed := errors.AsType[*engine.Fault](err)
	if failed {
		m.errors.Add(ctx, 1, metric.WithAttributes(operation(op), attribute.String("reason", string(f.Reason))))
	}
	if took != breaker.NotAsked && (!failed || f.Reason != engine.ReasonBusy) {
		m.duration.Of(op).Record(took.Seconds())
	}
}

func operation(op string) attribute.KeyValue { return attribute.String("operation", op) }
