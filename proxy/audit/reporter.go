package audit

import (
	"context"
	"log/slog"

	"berth/internal/auditlog"
	"berth/internal/journal"
	"berth/internal/mcp"
	"berth/internal/series"
	"berth/internal/trouble"
	"berth/proxy/inbound"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Options are where a Reporter reports to.
type Options struct {
	Access *slog.Logger         // gets a line a request; nil: nobody does
	Logger *slog.Logger         // is warned of requests that were cut
	Meter  metric.MeterProvider // nil: nothing is measured
	Tracer trace.TracerProvider // nil: nothing is traced
	Moves  []string             // the outcomes of moving a session
	Last   *Decisions           // remembers the last requests; nil: nobody does

	Troubles *trouble.Book // is told of refusals and unknown ids; nil: nobody is
	Deeds    *auditlog.Log // nil: it is off
}

// Reporter reports requests, and what else happens while they are served. Its methods may be
// called concurrently.
type Reporter struct {
	access slog.Handler  // nil: none
	lines  journal.Liner // access, if it writes lines; nil: it takes records
	known  known         // of its lines
	warn   *slog.Logger
	last   *Decisions
	tracer trace.Tracer
	traces bool // spans may be recorded; false: only the client's trace is passed on

	troubles *trouble.Book
	deeds    *auditlog.Log // nil: it is off

	requests  *series.Kept[requestLabels, requestSeries]
	exchanges *series.Kept[exchangeLabels, series.Times]

	moves   metric.Int64Counter
	missing metric.Int64Counter
	failed  metric.Int64Counter
	streams metric.Int64UpDownCounter
	crossed metric.Int64Counter
	drops   metric.Int64Counter
}

// known are the portions of lines that were written.
type known struct {
	heads   portions[head]
	fates   portions[fate]
	senders portions[sender]
}

// New returns a reporter for requests to the endpoints.
func New(endpoints []*inbound.Endpoint, o Options) *Reporter {
	if o.Tracer == nil {
		o.Tracer = tracenoop.NewTracerProvider()
	}
	_, untraced := o.Tracer.(tracenoop.TracerProvider)
	r := &Reporter{
		warn:     o.Logger,
		last:     o.Last,
		troubles: o.Troubles,
		deeds:    o.Deeds,
		tracer:   o.Tracer.Tracer("berth/proxy"),
		traces:   !untraced,
	}
	if o.Access != nil {
		r.access = o.Access.Handler()
		r.lines, _ = r.access.(journal.Liner)
	}
	r.instrument(series.Meter(o.Meter, "berth/proxy"))
	for _, ep := range endpoints {
		r.begin(ep.Router.Pool, o.Moves)
	}
	return r
}

// instrument makes the instruments, which fails on a malformed name only.
func (r *Reporter) instrument(meter metric.Meter) {
	requests, _ := meter.Int64Counter("berth.requests", metric.WithDescription("Requests of clients."))
	r.moves, _ = meter.Int64Counter("berth.sessions.moved", metric.WithDescription("Sessions that lost their upstream and were to be opened on another."))
	r.failed, _ = meter.Int64Counter("berth.requests.failed", metric.WithDescription("Requests that ended in an error of berth's own: outcome failed."))
	r.missing, _ = meter.Int64Counter("berth.headers.missing", metric.WithDescription("Headers that requests lacked and that were taken from the body: what headers = strict would refuse."))
	operations, _ := mcpconv.NewServerOperationDuration(meter)
	exchanges, _ := mcpconv.NewClientOperationDuration(meter)
	r.streams, _ = meter.Int64UpDownCounter("berth.subscription.streams", metric.WithDescription("Subscriptions that stand at upstreams; shared ones serve several clients."))
	r.drops, _ = meter.Int64Counter("berth.subscription.dropped", metric.WithDescription("Messages on subscriptions' streams that no client is told."))
	r.crossed, _ = meter.Int64Counter("berth.crossed_answers", metric.WithDescription("Responses to other requests in answers to berth's own requests, and on streams to clients', dropped."))
	r.requests = series.Keep(func(l requestLabels) requestSeries {
		return requestSeries{series.CountOf(requests, l.attributes()...), series.TimesOf(operations.Inst(), l.ofDuration()...)}
	}).Spread(requestLabels.place)
	r.exchanges = series.Keep(func(l exchangeLabels) series.Times {
		return series.TimesOf(exchanges.Inst(), l.attributes()...)
	}).Under(exchanges.Inst()).Spread(exchangeLabels.place)
}

// begin has a pool's counters of events stand at 0. Requests are not among them: what they are
// labelled by is too much to know beforehand.
func (r *Reporter) begin(pool *routing.Pool, moves []string) {
	name := series.Of("pool", pool.Name())
	series.Begin(r.moves, name, series.Of("outcome", moves...))
	series.Begin(r.failed, name)
	series.Begin(r.missing, name, series.Of("header", mcp.HeaderMethod, mcp.HeaderName, mcp.HeaderVersion))
	pool.Begin(r.crossed)
	pool.Begin(r.drops, series.Of("reason", string(DropUnasked), string(DropOther)))
}

// Begin has x, which is zero, be the record of a request.
func (r *Reporter) Begin(x *Record, call *inbound.Call) {
	x.call, x.reporter = call, r
}

// served counts and times a request.
func (r *Reporter) served(x *Record, e end) {
	pool, method := x.call.PoolName(), x.method()
	of := r.requests.Of(requestLabels{pool, method, x.call.Era(), x.Source, e.outcome, e.errorType, x.Status / 100})
	of.count.Add(1)
	of.took.Record(e.took.Seconds())
	if e.outcome == outcomeFailed {
		add(r.failed, 1, pool)
	}
}

// CrossedBy counts a response that u has given to another request.
func (r *Reporter) CrossedBy(pool string, u *routing.Upstream) {
	add(r.crossed, 1, pool, attribute.String("upstream", u.Name))
}

// Dropped counts a message of an upstream's that no subscriber is told.
func (r *Reporter) Dropped(pool string, u *routing.Upstream, reason Drop) {
	add(r.drops, 1, pool, attribute.String("upstream", u.Name), attribute.String("reason", string(reason)))
}

// Subscribed counts a stream at an upstream that stands now (1), or no more (-1).
func (r *Reporter) Subscribed(pool string, shared bool, n int64) {
	add(r.streams, n, pool, attribute.Bool("shared", shared))
}

// Lacked counts a header that the request should have had. A nil Record counts nothing.
func (r *Record) Lacked(header string) {
	if r == nil {
		return
	}
	add(r.reporter.missing, 1, r.call.PoolName(), attribute.String("header", header))
}

// Moved counts an attempt to move a session.
func (r *Reporter) Moved(pool, outcome string) {
	add(r.moves, 1, pool, attribute.String("outcome", outcome))
}

// add adds to a counter of what is rare.
func add(counter interface {
	Add(context.Context, int64, ...metric.AddOption)
}, n int64, pool string, labels ...attribute.KeyValue) {
	counter.Add(context.Background(), n, metric.WithAttributes(append(labels, attribute.String("pool", pool))...))
}
