package audit

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/inbound"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// StartSpan begins the request's span, once the call is classified. Its parent is what the
// client wrote into `_meta`, which speaks of this very message; the HTTP request's own trace is
// then linked, and the parent otherwise.
func (r *Record) StartSpan() {
	r.label = r.call.MethodLabel()
	parent, around := traceParent(r.call)
	if !r.reporter.traces {
		r.ctx, r.span = parent, trace.SpanFromContext(parent)
		return
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(r.call.Began)}
	if around.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: around}))
	}
	r.ctx, r.span = r.reporter.tracer.Start(parent, spanName(r.call), options...)
}

// traceParent returns a context with the trace that the request belongs to, and the HTTP
// request's own where that is another.
func traceParent(call *inbound.Call) (parent context.Context, around trace.SpanContext) {
	// Nothing of the handler's context but the trace is wanted, and spans outlive it.
	parent = context.Background()
	if call.HTTP.Header.Has(headerTraceParent) {
		parent = propagation.TraceContext{}.Extract(parent, (*carrier)(call.HTTP.Header))
	}
	c := call.Single()
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
func spanName(call *inbound.Call) string {
	if c := call.Single(); c != nil && c.Method == mcp.MethodCallTool && c.Name != "" {
		return c.Method + " " + Clip(c.Name)
	}
	return call.MethodLabel()
}

// endSpan completes the request's span; what was refused early has none yet.
func (r *Record) endSpan(errorType string, now time.Time) {
	if r.span == nil {
		r.StartSpan()
	}
	if r.exchange.upstream != nil {
		r.endExchange(errorType, now)
	}
	if r.span.IsRecording() {
		r.span.SetAttributes(r.about()...)
		r.span.SetAttributes(from(r.call.HTTP)...)
		r.span.SetAttributes(
			attribute.String("berth.routing.source", string(r.Source)),
			attribute.String("berth.upstream", r.Upstream),
			semconv.HTTPResponseStatusCode(r.Status),
		)
	}
	endWith(r.span, errorType)
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
func (r *Record) about() []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		semconv.McpMethodNameKey.String(r.method()),
		semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http"),
	}
	add := func(key attribute.Key, value string) {
		if value != "" {
			attributes = append(attributes, key.String(Clip(value)))
		}
	}
	add(semconv.McpProtocolVersionKey, r.call.Version())
	add(semconv.JSONRPCRequestIDKey, idText(r.call.ID))
	if r.call.Session != "" {
		add(semconv.McpSessionIDKey, seal.Digest(r.call.Session))
	}
	if r.Code != 0 {
		add(semconv.RPCResponseStatusCodeKey, strconv.Itoa(r.Code))
	}
	switch c := r.call.Single(); {
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

// idText is a request's id as it is traced: strings without quotes.
func idText(id []byte) string {
	if text, err := strconv.Unquote(string(id)); err == nil {
		return text
	}
	return string(id)
}

// from are the attributes that say who sent the request.
func from(r *wire.Request) []attribute.KeyValue {
	attributes := []attribute.KeyValue{semconv.NetworkProtocolVersion(wire.Version(r.ProtoMajor, r.ProtoMinor))}
	if host, port, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		attributes = append(attributes, semconv.ClientAddress(host))
		if n, err := strconv.Atoi(port); err == nil {
			attributes = append(attributes, semconv.ClientPort(n))
		}
	}
	return attributes
}

// carrier is a header as the propagation of traces reads it.
type carrier wire.Header

// Get implements propagation.TextMapCarrier.
func (c *carrier) Get(key string) string { return (*wire.Header)(c).Get(wire.CanonicalName(key)) }

// Set implements propagation.TextMapCarrier.
func (c *carrier) Set(key, value string) { (*wire.Header)(c).Set(wire.CanonicalName(key), value) }

// Keys implements propagation.TextMapCarrier.
func (c *carrier) Keys() (names []string) {
	for _, f := range (*wire.Header)(c).Fields() {
		names = append(names, f.Name)
	}
	return names
}
