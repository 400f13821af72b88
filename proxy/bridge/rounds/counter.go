package rounds

import (
	"context"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// What becomes of something that an upstream asks in mid-call.
const (
	WasAsked      = "asked"      // the client is shown it,
	WasSettled    = "settled"    // and has answered,
	WasAbandoned  = "abandoned"  // or did not come back
	WasWithdrawn  = "withdrawn"  // by the upstream, before the client was shown it
	WasUndeclared = "undeclared" // the client has not declared that it answers such
)

// Counter counts what became of questions.
type Counter struct {
	pool      attribute.KeyValue
	questions metric.Int64Counter
}

// NewCounter returns the counter of a pool's.
func NewCounter(meter metric.Meter, pool string) Counter {
	c := Counter{pool: attribute.String("pool", pool)}
	c.questions, _ = meter.Int64Counter("berth.bridge.questions", metric.WithDescription("What legacy upstreams asked modern clients in mid-call."))
	series.Begin(c.questions, series.Of("pool", pool), series.Of("outcome", WasAsked, WasSettled, WasAbandoned, WasWithdrawn, WasUndeclared))
	return c
}

// Add counts what became of n questions.
func (c Counter) Add(outcome string, n int) {
	c.questions.Add(context.Background(), int64(n), metric.WithAttributes(c.pool, attribute.String("outcome", outcome)))
}
