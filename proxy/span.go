package proxy

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// spans are the request's span, the context that it lives in, and the exchange
// with an upstream that is under way.
type spans struct {
	server   trace.Span
	ctx      context.Context
	exchange *exchangeSpan // nil: none
}

// exchangeSpan is the span and the measure of one exchange.
type exchangeSpan struct {
	trace.Span

	upstream *routing.Upstream
	started  time.Time
}

// startSpan begins the request's span. Its parent is what the client wrote into
// `_meta`, which speaks of this very message; the HTTP request's own trace is then
// linked, and the parent otherwise.
func (x *request) startSpan() {
	parent, around := x.traceParent()
	if !x.p.telemetry.traces {
		x.span.ctx, x.span.server = parent, trace.SpanFromContext(parent)
		return
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(x.started)}
	if around.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: around}))
	}
	x.span.ctx, x.span.server = x.p.telemetry.tracer.Start(parent, x.spanName(), options...)
}

// traceParent returns a context with the trace that the request belongs to, and the HTTP
// request's own where that is another.
func (x *request) traceParent() (parent context.Context, around trace.SpanContext) {
	// Nothing of the handler's context but the trace is wanted, and spans outlive it.
	parent = context.Background()
	if x.HTTP.Header[headerTraceParent] != nil {
		parent = propagation.TraceContext{}.Extract(parent, propagation.HeaderCarrier(x.HTTP.Header))
	}
	c := x.Single()
	if c == nil || c.Trace.Parent == "" {
		return parent, around
	}
	own := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": c.Trace.Parent, "tracestate": c.Trace.State})
	if !trace.SpanContextFromContext(own).IsValid() {
		return parent, around
	}
	return own, trace.SpanContextFromContext(parent)
}

// headerTraceParent is the header of W3C's trace context, as net/http spells it.
const headerTraceParent = "Traceparent"

// spanName is the method and, of a tool call, the tool.
func (x *request) spanName() string {
	if c := x.Single(); c != nil && c.Method == mcp.MethodCallTool && c.Name != "" {
		return c.Method + " " + clip(c.Name)
	}
	return x.MethodLabel()
}

// endSpan completes the request's span; what was refused early has none yet.
func (x *request) endSpan() {
	if x.span.server == nil {
		x.startSpan()
	}
	if x.span.exchange != nil {
		x.endExchange(x.errorType())
	}
	span := x.span.server
	if span.IsRecording() {
		span.SetAttributes(x.about()...)
		span.SetAttributes(x.from()...)
		span.SetAttributes(
			attribute.String("berth.routing.source", string(x.decision.Source)),
			attribute.String("berth.upstream", x.upstream),
			semconv.HTTPResponseStatusCode(x.out.Status),
		)
	}
	endWith(span, x.errorType())
}

// endWith ends span; errorType "" says that it went well.
func endWith(span trace.Span, errorType string) {
	if errorType != "" {
		span.SetAttributes(semconv.ErrorTypeKey.String(errorType))
		span.SetStatus(codes.Error, errorType)
	}
	span.End()
}

// about are the attributes that say what the request is. The session stands as a
// digest: its id lets in whoever knows it.
func (x *request) about() []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		semconv.McpMethodNameKey.String(x.MethodLabel()),
		semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http"),
	}
	add := func(key attribute.Key, value string) {
		if value != "" {
			attributes = append(attributes, key.String(clip(value)))
		}
	}
	add(semconv.McpProtocolVersionKey, x.Version())
	add(semconv.JSONRPCRequestIDKey, idText(x.ID))
	if x.Session != "" {
		add(semconv.McpSessionIDKey, inbound.Digest(x.Session))
	}
	if x.code != 0 {
		add(semconv.RPCResponseStatusCodeKey, strconv.Itoa(x.code))
	}
	switch c := x.Single(); {
	case c == nil:
	case c.Method == mcp.MethodCallTool:
		add(semconv.GenAIToolNameKey, c.Name)
		attributes = append(attributes, semconv.GenAIOperationNameExecuteTool)
	case c.Method == mcp.MethodGetPrompt:
		add(semconv.GenAIPromptNameKey, c.Name)
	default:
		add(semconv.McpResourceURIKey, withoutSecrets(c.Name))
	}
	return attributes
}

// withoutSecrets is a resource's URI less the parts that credentials are put into.
func withoutSecrets(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	return u.String()
}

// idText is a request's id as it is logged and traced: strings without quotes.
func idText(id []byte) string {
	if text, err := strconv.Unquote(string(id)); err == nil {
		return text
	}
	return string(id)
}

// from are the attributes that say who sent the request.
func (x *request) from() []attribute.KeyValue {
	attributes := []attribute.KeyValue{semconv.NetworkProtocolVersion(outbound.HttpVersion(x.HTTP.ProtoMajor, x.HTTP.ProtoMinor))}
	if host, port, err := net.SplitHostPort(x.HTTP.RemoteAddr); err == nil {
		attributes = append(attributes, semconv.ClientAddress(host))
		if n, err := strconv.Atoi(port); err == nil {
			attributes = append(attributes, semconv.ClientPort(n))
		}
	}
	return attributes
}

// startExchange begins the span and the measure of one exchange with an upstream.
// It lasts until the answer's last byte, or until endExchange.
func (x *request) startExchange(u *routing.Upstream) {
	x.attempts++
	x.span.exchange = x.newExchange(u)
}

// newExchange is startExchange for one of several exchanges at a time; closeExchange
// ends it.
func (x *request) newExchange(u *routing.Upstream) *exchangeSpan {
	span := x.span.server
	if x.p.telemetry.traces {
		_, span = x.p.telemetry.tracer.Start(x.span.ctx, x.spanName(), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(x.towards(u)...))
	}
	return &exchangeSpan{Span: span, upstream: u, started: time.Now()}
}

// towards are the attributes that say where an exchange goes.
func (x *request) towards(u *routing.Upstream) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		semconv.McpMethodNameKey.String(x.MethodLabel()), attribute.String("berth.upstream", u.Name),
		semconv.ServerAddress(u.URL.Hostname()),
	}
	if port, err := strconv.Atoi(u.URL.Port()); err == nil {
		attributes = append(attributes, semconv.ServerPort(port))
	}
	return attributes
}

// endExchange ends the exchange under way; errorType "" says that it went well.
func (x *request) endExchange(errorType string) {
	x.closeExchange(x.span.exchange, errorType)
	x.span.exchange = nil
}

func (x *request) closeExchange(e *exchangeSpan, errorType string) {
	if e.IsRecording() {
		e.SetAttributes(x.about()...)
	}
	x.p.telemetry.exchanged(x, e.upstream, time.Since(e.started), errorType)
	endWith(e, errorType)
}
