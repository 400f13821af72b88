package audit

import (
	"encoding/base64"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// originSize is what an origin is encoded from: trace and span.
const originSize = len(trace.TraceID{}) + len(trace.SpanID{})

// IsTraced reports whether the request's span is recorded.
func (r *Record) IsTraced() bool { return r.span != nil && r.span.IsRecording() }

// Origin names the request's span, to be kept with a task that the request makes: see ComesFrom. "": the
// span is not sampled, and nothing is to be kept.
func (r *Record) Origin() string {
	if !r.reporter.traces || r.span == nil || !r.span.SpanContext().IsSampled() {
		return ""
	}
	made := r.span.SpanContext()
	trace, span := made.TraceID(), made.SpanID()
	return base64.RawURLEncoding.EncodeToString(append(append(make([]byte, 0, originSize), trace[:]...), span[:]...))
}

// ComesFrom links the request's span to the one that made the task which the request is about, as Origin
// named it. A request of that span's own trace is linked as well: its parent need not be that span.
func (r *Record) ComesFrom(origin string) {
	if origin == "" || !r.IsTraced() {
		return
	}
	if made, ok := spanOf(origin); ok {
		r.span.AddLink(trace.Link{SpanContext: made, Attributes: []attribute.KeyValue{attribute.String("berth.link", "task")}})
	}
}

// spanOf is the span that Origin named; ok is false of another version's name.
func spanOf(origin string) (made trace.SpanContext, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(origin)
	if err != nil || len(raw) != originSize {
		return made, false
	}
	of := trace.SpanContextConfig{TraceFlags: trace.FlagsSampled, Remote: true}
	copy(of.SpanID[:], raw[copy(of.TraceID[:], raw):])
	return trace.NewSpanContext(of), true
}
