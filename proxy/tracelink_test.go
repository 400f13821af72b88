package proxy_test

import (
	"log/slog"
	"strings"
	"testing"

	"berth/proxy"
	"berth/proxy/audit"

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

// What a held call does upstream is a span beneath its request's, which may have ended long before.
func TestRoundsOfAHeldCallAreSpansBeneathItsRequest(t *testing.T) {
	ran := func(f *upgraded, header ...string) { f.reaches(f.made(header...), "completed") }
	for name, c := range map[string]struct {
		answers   faultFunc
		call      func(f *upgraded, header ...string)
		header    []string
		errorType string
		attempts  any // in the access record
		sampled   bool
	}{
		"a result":             {sayResult(done), ran, nil, "", nil, true},
		"an error of a tool's": {sayResult(`{"content":[],"isError":true}`), ran, nil, "tool_error", nil, true},
		"an error": {
			after(2*grace, sayError(`{"code":-32602,"message":"no"}`)),
			func(f *upgraded, header ...string) { f.reaches(f.made(header...), "failed") }, nil, "-32602", nil, true,
		},
		"a refusal": {
			sayRefusal(401, "text/plain", ""), func(f *upgraded, header ...string) { f.callTool(header...) }, nil, "refused", 1.0, true,
		},
		"not sampled": {sayResult(done), ran, []string{"Traceparent", strings.TrimSuffix(httpTrace, "1") + "0"}, "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &berth{t: t, spans: tracetest.NewSpanRecorder(), access: new(lines)}
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
			f := newUpgraded(t, rigOptions{traced: audit.TraceRounds(provider), options: func(o *proxy.Options) {
				o.Tracer, o.AccessLog = provider, slog.New(slog.NewJSONHandler(b.access, nil))
			}}, withGrace)
			f.answers(c.answers)
			c.call(f, c.header...)
			if got := b.record(); got["attempts"] != c.attempts {
				t.Errorf("attempts: got %v, want %v", got["attempts"], c.attempts)
			}
			if !c.sampled {
				for _, s := range b.spans.Ended() {
					if s.Name() == "tools/call work" {
						t.Errorf("a span of a call that is not sampled: %v", s.SpanContext())
					}
				}
				return
			}
			made, round := b.span("server", "tools/call work"), b.span("client", "tools/call work")
			if round.Parent().SpanID() != made.SpanContext().SpanID() || round.SpanContext().TraceID() != made.SpanContext().TraceID() {
				t.Errorf("got a span beneath %v, want it beneath %v", round.Parent(), made.SpanContext())
			}
			got := attributes(round)
			if got["berth.upstream"] != "a" || got["server.address"] == "" || got["mcp.method.name"] != "tools/call" || got["error.type"] != c.errorType {
				t.Errorf("got %v, want the upstream a and the error %q", got, c.errorType)
			}
		})
	}
}

// A call that nobody could be sent has no such span: it was sent to nobody.
func TestCallThatNobodyCouldBeSentIsNoRound(t *testing.T) {
	b := &berth{t: t, spans: tracetest.NewSpanRecorder()}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
	f := newUpgraded(t, rigOptions{tcp: true, traced: audit.TraceRounds(provider), options: func(o *proxy.Options) { o.Tracer = provider }}, nil)
	f.servers[0].kill()
	f.reaches(f.made(), "failed")
	b.span("server", "tools/call work")
	for _, s := range b.spans.Ended() {
		if s.SpanKind() == trace.SpanKindClient {
			t.Errorf("got the span %s", s.Name())
		}
	}
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
