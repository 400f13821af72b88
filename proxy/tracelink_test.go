package proxy_test

import (
	"strings"
	"testing"

	"berth/proxy"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// What is asked about a task is linked to the request that made it, by each method; in a session too,
// which leads to the owner by itself.
func TestRequestsAboutATaskAreLinkedToItsMaker(t *testing.T) {
	b := start(t, setup{})
	id := b.makeTask()
	made := b.span("server", "tools/call slow_compute").SpanContext()
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		b.modern(method, id, byID(id)+`,"inputResponses":{}`)
		isLinkedTo(t, b.span("server", method), made)
	}
	b = start(t, setup{})
	session := b.open("2025-11-25")
	id = b.makeCoreTask(session)
	made = b.span("server", "tools/call slow_compute").SpanContext()
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
		b.legacy(session, method, byID(id))
		isLinkedTo(t, b.span("server", method), made)
	}
}

// What berth makes a task of is linked as well.
func TestRequestsAboutAnUpgradedTaskAreLinkedToItsMaker(t *testing.T) {
	b := &berth{t: t, spans: tracetest.NewSpanRecorder()}
	f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
	}}, nil)
	f.answers(sayResult(done))
	id := f.made()
	f.modern("tasks/get", id, byID(id))
	isLinkedTo(t, b.span("server", "tasks/get"), b.span("server", "tools/call work").SpanContext())
}

// A trace that its client does not have recorded leaves nothing with the task.
func TestAnUnsampledMakerIsNotKept(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	b := start(t, setup{options: func(o *proxy.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	}})
	b.spans = spans
	id := b.post(message("tools/call", slowTool+","+strings.Replace(tasksMeta, `{`, `{"traceparent":"`+strings.TrimSuffix(clientTrace, "1")+`0",`, 1)),
		modernHeader("tools/call", "slow_compute")...).parsed().Result.TaskID
	if id == "" {
		t.Fatal("no task was made")
	}
	b.modern("tasks/get", id, byID(id))
	if links := b.span("server", "tasks/get").Links(); len(links) != 0 {
		t.Errorf("got links %v, want none", links)
	}
}

func isLinkedTo(t *testing.T, s sdktrace.ReadOnlySpan, made trace.SpanContext) {
	t.Helper()
	if links := s.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != made.SpanID() || links[0].SpanContext.TraceID() != made.TraceID() {
		t.Errorf("%s: got links %v, want %v", s.Name(), links, made)
	}
}
