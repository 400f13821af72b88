package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// roundBuckets are those of MCP's own durations, in seconds, and longer ones: held calls
// are.
var roundBuckets = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

type metrics struct {
	rounds   metric.Float64Histogram
	made     metric.Int64Counter
	unmade   metric.Int64Counter
	ends     metric.Int64Counter
	late     metric.Int64Counter
	orphaned metric.Int64Counter
	adopted  metric.Int64Counter
	putBack  metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, t *Tasks) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/upgrade")
	var m metrics
	// Creating an instrument fails on a malformed name only.
	m.made, _ = meter.Int64Counter("berth.upgrade.tasks", metric.WithDescription("Upgraded tasks made."))
	m.unmade, _ = meter.Int64Counter("berth.upgrade.unrecorded", metric.WithDescription("Calls that the store did not take as tasks, or not in time."))
	m.ends, _ = meter.Int64Counter("berth.upgrade.ended", metric.WithDescription("Upgraded tasks that ended with an outcome of their call, by state."))
	m.late, _ = meter.Int64Counter("berth.upgrade.late_results", metric.WithDescription("Outcomes dropped because their task had ended, or was another berth's, by then."))
	m.orphaned, _ = meter.Int64Counter("berth.upgrade.orphans", metric.WithDescription("Tasks failed because the berth that held their call was gone."))
	m.adopted, _ = meter.Int64Counter("berth.upgrade.adopted", metric.WithDescription("Tasks taken over from a berth that was gone."))
	m.putBack, _ = meter.Int64Counter("berth.upgrade.put_back", metric.WithDescription("Records put back that the store had lost."))
	m.rounds, _ = meter.Float64Histogram("berth.upgrade.round.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(roundBuckets...),
		metric.WithDescription("Rounds of held calls, from their dispatch to the end of their answer."))
	_, _ = meter.Int64ObservableGauge("berth.upgrade.held", metric.WithDescription("Calls held by this process."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(t.Held()))
			return nil
		}))
	return m
}

// round notes how a round went: result, error, input_required, answered where the client
// was given the answer itself, given_up where nobody wanted one any more, or failed where
// none came.
func (m metrics) round(ctx context.Context, pool, upstream, outcome string, took time.Duration) {
	m.rounds.Record(context.WithoutCancel(ctx), took.Seconds(), metric.WithAttributes(
		attribute.String("pool", pool), attribute.String("upstream", upstream), attribute.String("outcome", outcome)))
}

func (m metrics) ended(ctx context.Context, task Task) {
	m.ends.Add(ctx, 1, metric.WithAttributes(attribute.String("state", string(task.State))))
}

// tried counts a creation that failed with err, nil if it did not, if the store is why.
func (m metrics) tried(ctx context.Context, err error) {
	if errors.Is(err, storage.ErrUnavailable) {
		m.unmade.Add(context.WithoutCancel(ctx), 1)
	}
}
