package proxy

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// telemetry holds the proxy's instruments. Names and attributes are those of the
// OpenTelemetry semantic conventions for MCP where they have one.
type telemetry struct {
	tracer     trace.Tracer
	requests   metric.Int64Counter
	operations metric.Float64Histogram
	exchanges  metric.Float64Histogram
}

func newTelemetry(meters metric.MeterProvider, tracers trace.TracerProvider) telemetry {
	if meters == nil {
		meters = noop.NewMeterProvider()
	}
	if tracers == nil {
		tracers = tracenoop.NewTracerProvider()
	}
	meter := meters.Meter("berth/proxy")
	t := telemetry{tracer: tracers.Tracer("berth/proxy")}
	// Creating an instrument fails on a malformed name only.
	t.requests, _ = meter.Int64Counter("berth.requests", metric.WithDescription("Requests of clients, by outcome and by how their upstream was found."))
	t.operations, _ = meter.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), metric.WithDescription("Duration of a client's request at berth."))
	t.exchanges, _ = meter.Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"), metric.WithDescription("Time until an upstream's answer began."))
	return t
}

// served counts a request.
func (t telemetry) served(x *request, took time.Duration) {
	pool := ""
	if x.endpoint != nil {
		pool = x.pool().Name()
	}
	ctx := context.WithoutCancel(x.r.Context())
	method := attribute.String("mcp.method.name", x.methodLabel())
	t.requests.Add(ctx, 1, metric.WithAttributes(
		attribute.String("pool", pool), method,
		attribute.String("era", x.era().String()),
		attribute.String("source", string(x.decision.Source)),
		attribute.String("outcome", x.outcome()),
		attribute.String("status", strconv.Itoa(x.status/100)+"xx"),
	))
	attributes := []attribute.KeyValue{attribute.String("pool", pool), method}
	if kind := x.errorType(); kind != "" {
		attributes = append(attributes, attribute.String("error.type", kind))
	}
	t.operations.Record(ctx, took.Seconds(), metric.WithAttributes(attributes...))
}

// errorType is error.type: the JSON-RPC code, or what became of the request.
func (x *request) errorType() string {
	if x.code != 0 {
		return strconv.Itoa(x.code)
	}
	if outcome := x.outcome(); outcome != "ok" {
		return outcome
	}
	return ""
}

// spans is the request's span and the context that it lives in.
type spans struct {
	server trace.Span
	ctx    context.Context
}

// startSpan begins the request's span. Its parent is what the client wrote into
// `_meta`; the HTTP request's own trace, if there is one, is linked.
func (x *request) startSpan() {
	ctx := context.WithoutCancel(x.r.Context())
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(x.started)}
	propagator := propagation.TraceContext{}
	httpParent := trace.SpanContextFromContext(propagator.Extract(ctx, propagation.HeaderCarrier(x.r.Header)))
	name := x.methodLabel()
	if c := x.call(); c != nil {
		ctx = propagator.Extract(ctx, propagation.MapCarrier{"traceparent": c.Trace.Parent, "tracestate": c.Trace.State})
		if c.Method == mcp.MethodCallTool && c.Name != "" {
			name += " " + clip(c.Name)
		}
	}
	if httpParent.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: httpParent}))
	}
	x.span.ctx, x.span.server = x.p.telemetry.tracer.Start(ctx, name, options...)
}

// end completes the request's span.
func (s spans) end(x *request) {
	if s.server == nil {
		return
	}
	attributes := []attribute.KeyValue{
		attribute.String("mcp.method.name", x.methodLabel()),
		attribute.String("berth.routing.source", string(x.decision.Source)),
		attribute.String("berth.upstream", x.upstream),
		attribute.Int("http.response.status_code", x.status),
	}
	if v := x.version(); v != "" {
		attributes = append(attributes, attribute.String("mcp.protocol.version", clip(v)))
	}
	if c := x.call(); c != nil && c.Method == mcp.MethodCallTool {
		attributes = append(attributes, attribute.String("gen_ai.tool.name", clip(c.Name)), attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	if len(x.id) > 0 {
		attributes = append(attributes, attribute.String("jsonrpc.request.id", clip(string(x.id))))
	}
	if kind := x.errorType(); kind != "" {
		attributes = append(attributes, attribute.String("error.type", kind))
		s.server.SetStatus(codes.Error, kind)
	}
	s.server.SetAttributes(attributes...)
	s.server.End()
}

// startExchange begins the span and the measure of one exchange with an upstream,
// until its answer's headers.
func (x *request) startExchange(u *routing.Upstream) (done func(error)) {
	started := time.Now()
	_, span := x.p.telemetry.tracer.Start(x.span.ctx, x.methodLabel(), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("server.address", u.URL.Host), attribute.String("berth.upstream", u.Name)))
	return func(err error) {
		attributes := []attribute.KeyValue{
			attribute.String("pool", x.pool().Name()), attribute.String("upstream", u.Name),
			attribute.String("mcp.method.name", x.methodLabel()),
		}
		if err != nil {
			attributes = append(attributes, attribute.String("error.type", "exchange"))
			span.SetStatus(codes.Error, "exchange")
		}
		x.p.telemetry.exchanges.Record(x.span.ctx, time.Since(started).Seconds(), metric.WithAttributes(attributes...))
		span.End()
	}
}

var _ http.Handler = (*Proxy)(nil)
