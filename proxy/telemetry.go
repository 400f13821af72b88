package proxy

import (
	"context"
	"errors"
	"strconv"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/series"
	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// telemetry holds the proxy's instruments. Names and attributes are those of the
// OpenTelemetry semantic conventions for MCP where they have one. No attribute of
// an instrument is a client's to invent: methods that berth does not know are
// "other", and names of tools, ids and principals do not appear.
type telemetry struct {
	tracer     trace.Tracer
	traces     bool // spans may be recorded; false: only the client's trace is passed on
	requests   metric.Int64Counter
	operations mcpconv.ServerOperationDuration
	exchanges  mcpconv.ClientOperationDuration
	moves      metric.Int64Counter
	missing    metric.Int64Counter
	cuts       metric.Int64Counter
	streams    metric.Int64UpDownCounter
	crossed    metric.Int64Counter
	drops      metric.Int64Counter

	ofRequests   *series.Sets[requestLabels]
	ofOperations *series.Sets[operationLabels]
	ofExchanges  *series.Sets[exchangeLabels]
}

func newTelemetry(meters metric.MeterProvider, tracers trace.TracerProvider) telemetry {
	if meters == nil {
		meters = noop.NewMeterProvider()
	}
	if tracers == nil {
		tracers = tracenoop.NewTracerProvider()
	}
	meter := meters.Meter("berth/proxy")
	t := telemetry{
		tracer:       tracers.Tracer("berth/proxy"),
		traces:       !isNoop(tracers),
		ofRequests:   series.NewSets(requestLabels.attributes),
		ofOperations: series.NewSets(operationLabels.attributes),
		ofExchanges:  series.NewSets(exchangeLabels.attributes),
	}
	// Creating an instrument fails on a malformed name only.
	t.requests, _ = meter.Int64Counter("berth.requests", metric.WithDescription("Requests of clients, by outcome and by how their upstream was found."))
	t.moves, _ = meter.Int64Counter("berth.sessions.moved", metric.WithDescription("Sessions that lost their upstream and were to be opened on another, by outcome."))
	t.cuts, _ = meter.Int64Counter("berth.drain.cut", metric.WithDescription("Requests that were still under way when the time to drain was over."))
	t.missing, _ = meter.Int64Counter("berth.headers.missing", metric.WithDescription("Headers that requests for tasks of berth's own lacked and that were taken from the body, by name."))
	t.operations, _ = mcpconv.NewServerOperationDuration(meter)
	t.exchanges, _ = mcpconv.NewClientOperationDuration(meter)
	t.streams, _ = meter.Int64UpDownCounter("berth.subscription.streams", metric.WithDescription("Subscriptions that stand at upstreams, by whether subscribers share them."))
	t.drops, _ = meter.Int64Counter("berth.subscription.dropped", metric.WithDescription("Messages on subscriptions' streams at upstreams that were for no subscriber, by why."))
	t.crossed, _ = meter.Int64Counter("berth.crossed_answers", metric.WithDescription("Responses to other requests in the answers to requests of berth's own, dropped."))
	return t
}

func isNoop(tracers trace.TracerProvider) bool {
	_, noop := tracers.(tracenoop.TracerProvider)
	return noop
}

// begin has the counters of events stand at 0. Requests are not among them: what they are
// labelled by is too much to know beforehand.
func (t telemetry) begin(endpoints []*inbound.Endpoint) {
	for _, ep := range endpoints {
		pool := ep.Router.Pool
		name, upstreams := series.Of("pool", pool.Name()), series.Of("upstream", pool.Names()...)
		series.Begin(t.moves, name, series.Of("outcome", failover.Outcomes...))
		series.Begin(t.cuts, name, series.Of(string(semconv.McpMethodNameKey), mcp.MethodCallTool))
		series.Begin(t.missing, name, series.Of("header", mcp.HeaderMethod, mcp.HeaderName, mcp.HeaderVersion))
		series.Begin(t.crossed, name, upstreams)
		series.Begin(t.drops, name, upstreams, series.Of("reason", string(dropUnasked), string(dropOther)))
	}
}

// CrossedBy counts a response that u has given to another request.
func (t telemetry) CrossedBy(pool string, u *routing.Upstream) {
	t.crossed.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", pool), attribute.String("upstream", u.Name)))
}

// crossedBy returns what counts such a response in the answer to a request that x made.
func (x *request) crossedBy(u *routing.Upstream) func() {
	return func() { x.p.telemetry.CrossedBy(x.PoolName(), u) }
}

// dropped counts a message of an upstream's that no subscriber is told.
func (t telemetry) dropped(pool string, u *routing.Upstream, reason dropReason) {
	t.drops.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("pool", pool), attribute.String("upstream", u.Name), attribute.String("reason", string(reason))))
}

// subscribed counts a stream at an upstream that stands now (1), or no more (-1).
func (t telemetry) subscribed(pool string, shared bool, n int64) {
	t.streams.Add(context.Background(), n, metric.WithAttributes(attribute.String("pool", pool), attribute.Bool("shared", shared)))
}

// served counts and times a request.
func (t telemetry) served(x *request, took time.Duration) {
	ctx, pool, method := x.span.ctx, x.PoolName(), x.MethodLabel()
	t.requests.Add(ctx, 1, t.ofRequests.Of(requestLabels{
		pool: pool, method: method, era: x.Era(), source: x.decision.Source, outcome: x.outcome(), class: x.out.Status / 100,
	}).Add...)
	t.operations.Inst().Record(ctx, took.Seconds(), t.ofOperations.Of(operationLabels{pool, method, x.errorType()}).Record...)
}

// cut counts a request that berth's own end broke off.
func (t telemetry) cut(x *request) {
	t.cuts.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", x.PoolName()), semconv.McpMethodNameKey.String(x.MethodLabel())))
}

// lacked counts a header that a request should have had.
func (t telemetry) lacked(x *request, header string) {
	t.missing.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", x.PoolName()), attribute.String("header", header)))
}

// moved counts an attempt to move a session.
func (t telemetry) moved(pool, outcome string) {
	t.moves.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", pool), attribute.String("outcome", outcome)))
}

// exchanged measures one exchange with an upstream.
func (t telemetry) exchanged(x *request, u *routing.Upstream, took time.Duration, errorType string) {
	labels := exchangeLabels{operationLabels{x.PoolName(), x.MethodLabel(), errorType}, u.Name}
	t.exchanges.Inst().Record(x.span.ctx, took.Seconds(), t.ofExchanges.Of(labels).Record...)
}

// toolError is the error.type of a tool that reported its failure in its result.
const toolError = "tool_error"

// errorType is error.type: the JSON-RPC code, a tool's own error, or what became
// of the request; "" if all went well.
func (x *request) errorType() string {
	outcome := x.outcome()
	switch {
	case x.code != 0:
		return strconv.Itoa(x.code)
	case outcome != "ok":
		return outcome
	case x.toolFailed:
		return toolError
	}
	return ""
}

// exchangeErrorType is error.type of an exchange that brought no answer.
func exchangeErrorType(err error) string {
	var failed *exchange.SendError
	switch {
	case !errors.As(err, &failed):
		return semconv.ErrorTypeOther.Value.AsString()
	case failed.TimedOut:
		return "timeout"
	case failed.Refused:
		return "connection_refused"
	case failed.Garbled:
		return "garbled"
	}
	return "broken_off"
}
