package audit

import (
	"context"
	"errors"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// TraceRounds returns what has each round of a held call be a span, beneath that of the request which made the task, however long that
// has ended; nil: nothing is traced. A round of a process that dies has none.
func TraceRounds(provider trace.TracerProvider) func(upgrade.Round) {
	if _, untraced := provider.(tracenoop.TracerProvider); untraced || provider == nil {
		return nil
	}
	tracer := provider.Tracer("berth/proxy")
	return func(r upgrade.Round) {
		made, ok := spanOf(r.Task.Origin)
		if !ok {
			return
		}
		attributes := append(to(r.At),
			semconv.McpMethodNameKey.String(mcp.MethodCallTool), semconv.GenAIToolNameKey.String(Clip(r.Task.Tool)), semconv.GenAIOperationNameExecuteTool,
			semconv.McpProtocolVersionKey.String(r.Task.Version), semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http"),
		)
		if r.Answer != nil && r.Answer.ErrorCode != 0 {
			attributes = append(attributes, semconv.RPCResponseStatusCode(strconv.Itoa(r.Answer.ErrorCode)))
		}
		_, span := tracer.Start(trace.ContextWithSpanContext(context.Background(), made), mcp.MethodCallTool+" "+Clip(r.Task.Tool),
			trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(r.Begun), trace.WithAttributes(attributes...))
		endWith(span, errorOfRound(r))
	}
}

// errorOfRound is error.type of a round; "": it went well.
func errorOfRound(r upgrade.Round) string {
	switch answer := r.Answer; {
	case answer != nil && answer.IsError:
		return errorOf(answer.ErrorCode)
	case answer != nil && answer.ToolFailed:
		return toolError
	case answer != nil, r.Outcome == "answered":
		return ""
	}
	if _, unanswered := errors.AsType[*exchange.SendError](r.Err); unanswered && r.Outcome == "failed" {
		return ErrorType(r.Err)
	}
	return r.Outcome
}

// to are the attributes that name an upstream.
func to(u *routing.Upstream) []attribute.KeyValue {
	attributes := []attribute.KeyValue{attribute.String("berth.upstream", u.Name), semconv.ServerAddress(u.URL.Hostname())}
	if port, err := strconv.Atoi(u.URL.Port()); err == nil {
		attributes = append(attributes, semconv.ServerPort(port))
	}
	return attributes
}
