package metrics

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/series"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/upgrade/task"
	"berth/upgrade/transport"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// roundBuckets are those of MCP's own durations, in seconds, and longer ones: held calls
// are.
var roundBuckets = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// Metrics are what operators see of upgraded tasks. Their counts outlive the requests that
// they are about.
type Metrics struct {
	rounds  *series.Kept[played, series.Times]
	ends    *series.Kept[task.State, series.Count]
	made    series.Count
	refused *series.Tally // as refusals, by bound

	// Troubles is told of calls that lost their holder; nil: nobody is. It is set before the metrics are in use.
	Troubles *trouble.Book
	// Traced is told of rounds whose task has an origin; nil: nobody is. It is set before the metrics are in use.
	Traced func(Round)

	unmade, refusals, late, crossed, orphaned, adopted, putBack, resumptions, questions, sessionEnds metric.Int64Counter
}

// played is what a round is timed by.
type played struct{ pool, upstream, outcome string }

func (p played) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("pool", p.pool), attribute.String("upstream", p.upstream), attribute.String("outcome", p.outcome)}
}

// Meter is where all of it is measured.
func Meter(provider metric.MeterProvider) metric.Meter {
	return series.Meter(provider, "berth/upgrade")
}

// New returns metrics that stand at 0, of calls to pools.
func New(meter metric.Meter, pools *transport.Pools) *Metrics {
	counter := func(name, says string) metric.Int64Counter {
		c, _ := meter.Int64Counter("berth.upgrade."+name, metric.WithDescription(says)) // it fails on a malformed name only
		return c
	}
	m := &Metrics{
		refused:     new(series.Tally),
		made:        series.CountOf(counter("tasks", "Calls recorded as tasks.")),
		unmade:      counter("unrecorded", "Calls that the store did not take as tasks, or not in time."),
		refusals:    counter("refused", "Calls that did not become tasks, and outcomes not kept or given out, for want of room: a caller, or all, have as much as they may."),
		late:        counter("late_results", "Outcomes dropped: their task had ended by then, or was another berth's."),
		crossed:     counter("crossed_answers", "Responses to other requests in the answers to held calls, dropped."),
		orphaned:    counter("orphans", "Tasks failed because the berth that held their call was gone."),
		adopted:     counter("adopted", "Tasks gone on with for a berth that was gone or left them."),
		putBack:     counter("put_back", "Records put back that the store had lost."),
		resumptions: counter("resumed", "Broken or left streams of held calls that were to be resumed; each once."),
		questions:   counter("questions", "What tools asked clients while their calls were held in sessions."),
		sessionEnds: counter("session_ends", "Sessions ended while calls were held in them: held until the last is over, then told upstream, or failed to be."),
	}
	ends := counter("ended", "Tasks that ended with what their call returned.")
	series.Begin(ends, series.Of("state", string(task.Completed), string(task.Failed)))
	m.ends = series.KeepCounts(ends, func(state task.State) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("state", string(state))}
	})
	m.begin()
	m.Join(pools)
	rounds, _ := meter.Float64Histogram("berth.upgrade.round.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(roundBuckets...),
		metric.WithDescription("Rounds of held calls, from their dispatch to the end of their answer."))
	m.rounds = series.Keep(func(p played) series.Times { return series.TimesOf(rounds, p.attributes()...) }).Under(rounds)
	return m
}

// begin has the counters stand at 0 that are of no pool.
func (m *Metrics) begin() {
	m.made.Add(0)
	for _, counter := range []metric.Int64Counter{m.unmade, m.late, m.orphaned, m.adopted, m.putBack} {
		series.Begin(counter)
	}
	series.Begin(m.refusals, series.Of("bound", "live_per_process", "live_per_caller", "live_per_principal",
		"kept_tasks", "caller_kept_tasks", "kept", "caller_kept", "held", "caller_held", "lent", "caller_lent", "outcome", "question", "answers"))
	series.Begin(m.questions, series.Of("outcome", "asked", "settled", "withdrawn", "refused", "undeclared"))
	series.Begin(m.sessionEnds, series.Of("outcome", "held", "told", "failed"))
}

// Join has the counters of upstreams stand at 0, of those pools that calls may be taken on to.
func (m *Metrics) Join(pools *transport.Pools) {
	for _, pool := range pools.Current() {
		pool.Routing.Begin(m.crossed)
		pool.Routing.Begin(m.resumptions, series.Of("outcome", "resumed", "refused", "unreachable", mcp.ReasonSessionLost))
	}
}

// count adds one to what the labels tell, name by value.
func count(ctx context.Context, counter metric.Int64Counter, labels ...string) {
	if ctx.Done() != nil {
		ctx = context.WithoutCancel(ctx) // what has ended is not counted
	}
	attributes := make([]attribute.KeyValue, 0, len(labels)/2)
	for i := 0; i < len(labels); i += 2 {
		attributes = append(attributes, attribute.String(labels[i], labels[i+1]))
	}
	counter.Add(ctx, 1, metric.WithAttributes(attributes...))
}

// Made counts a task that was made, Adopted one that was taken over, and Orphaned one that
// failed with its holder.
func (m *Metrics) Made()                        { m.made.Add(1) }
func (m *Metrics) Adopted(ctx context.Context)  { count(ctx, m.adopted) }
func (m *Metrics) Orphaned(ctx context.Context) { count(ctx, m.orphaned) }

// Refused counts what a bound has refused.
func (m *Metrics) Refused(ctx context.Context, bound string) {
	count(ctx, m.refusals, "bound", bound)
	m.refused.Add(bound)
}

// RefusedBy is how often bounds have refused something.
func (m *Metrics) RefusedBy(bounds ...string) int64 { return m.refused.Of(bounds...) }

// Round notes how a round went at an upstream, and how long it took: result, error, input_required; answered where the client was
// given the answer itself, refused where that says that the call is not taken on; given_up where
// nobody wanted one any more, or failed where none came.
func (m *Metrics) Round(pool, upstream, outcome string, took time.Duration) {
	m.rounds.Of(played{pool, upstream, outcome}).Record(took.Seconds())
}

// Ended counts a task that ended with what its call returned, Late one whose outcome came too late to be kept, and PutBack
// one whose record the store had lost.
func (m *Metrics) Ended(state task.State)      { m.ends.Of(state).Add(1) }
func (m *Metrics) Late(ctx context.Context)    { count(ctx, m.late) }
func (m *Metrics) PutBack(ctx context.Context) { count(ctx, m.putBack) }

// Crossed counts a response to another request in the answer to a task's call.
func (m *Metrics) Crossed(ctx context.Context, t *task.Task) {
	count(ctx, m.crossed, "pool", t.Pool, "upstream", t.Upstream)
}

// Resumed notes how it went to resume the stream of a task's call: resumed; refused, where the upstream does not
// replay, or lets nobody; session_lost; or unreachable for too long.
func (m *Metrics) Resumed(ctx context.Context, t *task.Task, outcome string) {
	count(ctx, m.resumptions, "pool", t.Pool, "upstream", t.Upstream, "outcome", outcome)
}

// Question notes what becomes of something that a tool asks: asked, where a client is shown
// it, and then settled or withdrawn; refused, where no client would answer; or undeclared,
// where the client has not declared that it can.
func (m *Metrics) Question(ctx context.Context, outcome string) {
	count(ctx, m.questions, "outcome", outcome)
}

// SessionEnd notes that the end of a session waits for its calls (held), that its upstream was
// told of it when they were over (told), or that it could not be (failed).
func (m *Metrics) SessionEnd(ctx context.Context, outcome string) {
	count(ctx, m.sessionEnds, "outcome", outcome)
}

// Tried counts a creation that failed with err, nil if it did not, if the store or a bound is
// why.
func (m *Metrics) Tried(ctx context.Context, err error) {
	if refusal, ok := errors.AsType[*task.Refusal](err); ok {
		m.Refused(ctx, refusal.Reason)
	}
	if errors.Is(err, storage.ErrUnavailable) {
		count(ctx, m.unmade)
	}
}
