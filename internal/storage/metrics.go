package storage

import (
	"context"
	"errors"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The operations, as metrics and errors name them.
const (
	opGet          = "get"
	opGetSome      = "get_some"
	opPutIfAbsent  = "put_if_absent"
	opSwap         = "swap"
	opPut          = "put"
	opEach         = "each"
	opDelete       = "delete"
	opAddMember    = "enlist"
	opRemoveMember = "delist"
	opMembers      = "members"
	opKeepMembers  = "keep"
	opListing      = "listing"
	opNotify       = "notify"
	opNow          = "now"
	opRate         = "rate"
	opPing         = "ping"
	opInfo         = "info"  // not counted: nobody waits for it
	opWatch        = "watch" // not counted: it never ends
)

var counted = []string{
	opGet, opGetSome, opPutIfAbsent, opSwap, opPut, opEach, opDelete, opAddMember, opKeepMembers, opRemoveMember, opMembers, opListing, opNotify, opNow, opPing, opRate,
}

var reasons = []string{
	string(reasonTimeout), string(reasonRefused), string(reasonBreakerOpen), string(reasonBusy), string(reasonOOM), string(reasonReadonly), string(reasonLoading),
	string(reasonAuth), string(reasonDisk), string(reasonCorrupt), string(reasonUnreplicated), string(reasonOther),
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
	f, failed := errors.AsType[*fault](err)
	if failed {
		m.errors.Add(ctx, 1, metric.WithAttributes(operation(op), attribute.String("reason", string(f.reason))))
	}
	if took != notAsked && (!failed || f.reason != reasonBusy) {
		m.duration.Of(op).Record(took.Seconds())
	}
}

func operation(op string) attribute.KeyValue { return attribute.String("operation", op) }
