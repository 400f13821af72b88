package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The operations, as metrics and errors name them.
const (
	opGet          = "get"
	opPutIfAbsent  = "put_if_absent"
	opSwap         = "swap"
	opPut          = "put"
	opDelete       = "delete"
	opAddMember    = "enlist"
	opRemoveMember = "delist"
	opMembers      = "members"
	opNotify       = "notify"
	opNow          = "now"
	opPing         = "ping"
	opInfo         = "info"  // not counted: nobody waits for it
	opWatch        = "watch" // not counted: it never ends
)

var counted = []string{opGet, opPutIfAbsent, opSwap, opPut, opDelete, opAddMember, opRemoveMember, opMembers, opNotify, opNow, opPing}

var reasons = []string{
	string(reasonTimeout), string(reasonRefused), string(reasonBreakerOpen), string(reasonBusy), string(reasonOOM), string(reasonReadonly), string(reasonLoading),
	string(reasonAuth), string(reasonDisk), string(reasonCorrupt), string(reasonUnreplicated), string(reasonOther),
}

// durationBuckets, in seconds, reach from a Redis on the same host to an operation that waited as
// long as it may.
var durationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

type metrics struct {
	errors   metric.Int64Counter
	duration metric.Float64Histogram
	gauge    metric.Registration

	ofDurations *series.Sets[string]
}

func newMetrics(provider metric.MeterProvider, healthy func() bool) (*metrics, error) {
	meter := series.Meter(provider, "berth/internal/storage")
	failures, errFailures := meter.Int64Counter("berth.store.errors",
		metric.WithDescription("Operations that found the store unavailable."), metric.WithUnit("{operation}"))
	duration, errDuration := meter.Float64Histogram("berth.store.operation.duration",
		metric.WithDescription("How long operations took that the store was asked to do."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(durationBuckets...))
	gauge, errGauge := meter.Int64ObservableGauge("berth.store.healthy",
		metric.WithDescription("1 while the store answers, else 0."))
	if err := errors.Join(errFailures, errDuration, errGauge); err != nil {
		return nil, fmt.Errorf("storage: making instruments: %w", err)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		var value int64
		if healthy() {
			value = 1
		}
		o.ObserveInt64(gauge, value)
		return nil
	}, gauge)
	if err != nil {
		return nil, fmt.Errorf("storage: registering the health gauge: %w", err)
	}
	series.Begin(failures, series.Of("operation", counted...), series.Of("reason", reasons...))
	byOperation := series.NewSets(func(op string) []attribute.KeyValue { return []attribute.KeyValue{operation(op)} })
	return &metrics{errors: failures, duration: duration, gauge: registration, ofDurations: byOperation}, nil
}

func (m *metrics) record(ctx context.Context, op string, took time.Duration, err error) {
	f, failed := errors.AsType[*fault](err)
	if failed {
		m.errors.Add(ctx, 1, metric.WithAttributes(operation(op), attribute.String("reason", string(f.reason))))
	}
	if !failed || f.reason != reasonBreakerOpen && f.reason != reasonBusy {
		m.duration.Record(ctx, took.Seconds(), m.ofDurations.Of(op).Record...)
	}
}

func operation(op string) attribute.KeyValue { return attribute.String("operation", op) }

func (m *metrics) close() error { return m.gauge.Unregister() }
