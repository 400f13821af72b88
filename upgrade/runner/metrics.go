package runner

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/series"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// roundBuckets are those of MCP's own durations, in seconds, and longer ones: held calls
// are.
var roundBuckets = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

type Metrics struct {
	rounds   metric.Float64Histogram
	Made     metric.Int64Counter
	unmade   metric.Int64Counter
	refusals metric.Int64Counter
	ends     metric.Int64Counter
	late     metric.Int64Counter
	crossed  metric.Int64Counter
	Orphaned metric.Int64Counter
	Adopted  metric.Int64Counter
	putBack  metric.Int64Counter

	resumptions metric.Int64Counter
	questions   metric.Int64Counter
	sessionEnds metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, r *Runner) Metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/upgrade")
	var m Metrics
	// Creating an instrument fails on a malformed name only.
	m.Made, _ = meter.Int64Counter("berth.upgrade.tasks", metric.WithDescription("Upgraded tasks made."))
	m.unmade, _ = meter.Int64Counter("berth.upgrade.unrecorded", metric.WithDescription("Calls that the store did not take as tasks, or not in time."))
	m.refusals, _ = meter.Int64Counter("berth.upgrade.refused", metric.WithDescription("Calls that did not become tasks, and outcomes that were not kept or not given out, because their caller, or all callers, have as much as they may, by the bound."))
	m.ends, _ = meter.Int64Counter("berth.upgrade.ended", metric.WithDescription("Upgraded tasks that ended with an outcome of their call, by state."))
	m.late, _ = meter.Int64Counter("berth.upgrade.late_results", metric.WithDescription("Outcomes dropped because their task had ended, or was another berth's, by then."))
	m.crossed, _ = meter.Int64Counter("berth.upgrade.crossed_answers", metric.WithDescription("Responses to other requests in the answers to held calls, dropped."))
	m.Orphaned, _ = meter.Int64Counter("berth.upgrade.orphans", metric.WithDescription("Tasks failed because the berth that held their call was gone."))
	m.Adopted, _ = meter.Int64Counter("berth.upgrade.adopted", metric.WithDescription("Tasks taken over from a berth that was gone."))
	m.putBack, _ = meter.Int64Counter("berth.upgrade.put_back", metric.WithDescription("Records put back that the store had lost."))
	m.resumptions, _ = meter.Int64Counter("berth.upgrade.resumed", metric.WithDescription("Streams of held calls that broke, or were left by another berth, and were to be resumed, by outcome."))
	m.questions, _ = meter.Int64Counter("berth.upgrade.questions", metric.WithDescription("What tools asked clients while their calls were held in sessions, by outcome."))
	m.sessionEnds, _ = meter.Int64Counter("berth.upgrade.session_ends", metric.WithDescription("Sessions that were ended while calls were held in them, by outcome."))
	m.begin(r)
	m.rounds, _ = meter.Float64Histogram("berth.upgrade.round.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(roundBuckets...),
		metric.WithDescription("Rounds of held calls, from their dispatch to the end of their answer."))
	_, _ = meter.Int64ObservableGauge("berth.upgrade.holder", metric.WithDescription("Always 1; the label tells by which name this process holds calls."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(1, metric.WithAttributes(attribute.String("holder", r.ledger.Holder)))
			return nil
		}))
	_, _ = meter.Int64ObservableGauge("berth.upgrade.held", metric.WithDescription("Calls held by this process."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(r.Calls.Size()))
			return nil
		}))
	gauge := func(name, says string, unit string, of func(u ledger.Usage) int64) {
		_, _ = meter.Int64ObservableGauge(name, metric.WithDescription(says), metric.WithUnit(unit),
			metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
				o.Observe(of(r.ledger.Quota.Total()))
				return nil
			}))
	}
	gauge("berth.upgrade.kept", "Tasks that this process counts, those that have ended included.", "", func(u ledger.Usage) int64 { return int64(u.Tasks) })
	gauge("berth.upgrade.kept.bytes", "What they keep until they expire.", "By", func(u ledger.Usage) int64 { return u.Bytes })
	return m
}

// begin has the counters stand at 0.
func (m Metrics) begin(r *Runner) {
	for _, counter := range []metric.Int64Counter{m.Made, m.unmade, m.late, m.Orphaned, m.Adopted, m.putBack} {
		series.Begin(counter)
	}
	series.Begin(m.refusals, series.Of("bound", "live_per_process", "live_per_caller", "live_per_principal",
		"kept_tasks", "caller_kept_tasks", "kept", "caller_kept", "held", "caller_held", "lent", "caller_lent", "outcome", "question", "answers"))
	series.Begin(m.ends, series.Of("state", string(task.Completed), string(task.Failed)))
	series.Begin(m.questions, series.Of("outcome", "asked", "settled", "withdrawn", "refused", "undeclared"))
	series.Begin(m.sessionEnds, series.Of("outcome", "held", "told", "failed"))
	for _, pool := range r.Pools {
		at := []series.Label{series.Of("pool", pool.Routing.Name()), series.Of("upstream", pool.Routing.Names()...)}
		series.Begin(m.crossed, at...)
		series.Begin(m.resumptions, append(at, series.Of("outcome", "resumed", "refused", "unreachable", mcp.ReasonSessionLost))...)
	}
}

// Refused counts what a bound has refused.
func (m Metrics) Refused(ctx context.Context, bound string) {
	m.refusals.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attribute.String("bound", bound)))
}

// round notes how a round went: result, error, input_required, answered where the client
// was given the answer itself, refused where that says that the call is not taken on, given_up where nobody wanted one any more, or failed where
// none came.
func (m Metrics) round(ctx context.Context, pool, upstream, outcome string, took time.Duration) {
	m.rounds.Record(context.WithoutCancel(ctx), took.Seconds(), metric.WithAttributes(
		attribute.String("pool", pool), attribute.String("upstream", upstream), attribute.String("outcome", outcome)))
}

// resumed notes how it went to resume a stream: resumed; refused, where the upstream does not
// replay; session_lost; or unreachable for too long.
func (m Metrics) resumed(ctx context.Context, t task.Task, err error) {
	outcome := "resumed"
	switch {
	case errors.Is(err, errOutOfReach):
		outcome = "unreachable"
	case errors.Is(err, ErrNoReplay):
		outcome = "refused"
	case err != nil:
		outcome = mcp.ReasonSessionLost
	}
	m.resumptions.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(
		attribute.String("pool", t.Pool), attribute.String("upstream", t.Upstream), attribute.String("outcome", outcome)))
}

// crossedBy counts a response that the upstream of a task's call has given to another
// request.
func (m Metrics) crossedBy(t task.Task) {
	m.crossed.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("pool", t.Pool), attribute.String("upstream", t.Upstream)))
}

// question notes what becomes of something that a tool asks: asked, where a client is shown
// it, and then settled or withdrawn; refused, where no client would answer; or undeclared,
// where the client has not declared that it can.
func (m Metrics) question(ctx context.Context, outcome string) {
	m.questions.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// SessionEnd notes that the end of a session waits for its calls (held), that its upstream was
// told of it when they were over (told), or that it could not be (failed).
func (m Metrics) SessionEnd(ctx context.Context, outcome string) {
	m.sessionEnds.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

func (m Metrics) ended(ctx context.Context, t task.Task) {
	m.ends.Add(ctx, 1, metric.WithAttributes(attribute.String("state", string(t.State))))
}

// Tried counts a creation that failed with err, nil if it did not, if the store or a bound is
// why.
func (m Metrics) Tried(ctx context.Context, err error) {
	if refusal, ok := errors.AsType[*task.Refusal](err); ok {
		m.Refused(ctx, refusal.Reason)
	}
	if errors.Is(err, storage.ErrUnavailable) {
		m.unmade.Add(context.WithoutCancel(ctx), 1)
	}
}
