package audit

import (
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// Exchange is the span and the measure of one exchange with an upstream. It lasts until the
// answer's last byte.
type Exchange struct {
	span     trace.Span
	upstream *routing.Upstream // nil: there is none
	started  time.Time
}

// SendTo says that the request is sent to u, as of began, or where that is zero of the time that it returns. The exchange ends
// with EndExchange, or with the request.
func (r *Record) SendTo(u *routing.Upstream, began time.Time) time.Time {
	if began.IsZero() {
		began = r.call.Now()
	}
	r.Upstream = u.Name
	r.attempts++
	r.exchange = r.begin(u, began)
	return began
}

// WasSent says that the request went upstream as a held call, so many times, to u last.
func (r *Record) WasSent(u *routing.Upstream, times int) { r.Upstream, r.attempts = u.Name, times }

// EndExchange ends the exchange under way, if it ends before the request does; errorType ""
// says that it went well.
func (r *Record) EndExchange(errorType string) { r.endExchange(errorType, r.call.Now()) }

func (r *Record) endExchange(errorType string, now time.Time) {
	r.exchanged(r.exchange, errorType, now)
	r.exchange = Exchange{}
}

// Exchange begins one of several exchanges at a time, and Exchanged ends it. Both may be called
// concurrently.
func (r *Record) Exchange(u *routing.Upstream) Exchange { return r.begin(u, time.Now()) }

func (r *Record) begin(u *routing.Upstream, began time.Time) Exchange {
	span := r.span
	if r.reporter.traces {
		_, span = r.reporter.tracer.Start(r.ctx, spanName(r.call), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(r.towards(u)...))
	}
	return Exchange{span, u, began}
}

// Exchanged ends e; errorType "" says that it went well.
func (r *Record) Exchanged(e Exchange, errorType string) { r.exchanged(e, errorType, time.Now()) }

func (r *Record) exchanged(e Exchange, errorType string, now time.Time) {
	if e.span.IsRecording() {
		e.span.SetAttributes(r.about()...)
	}
	labels := exchangeLabels{r.call.PoolName(), r.method(), errorType, e.upstream.Name}
	r.reporter.exchanges.Of(labels).Record(now.Sub(e.started).Seconds())
	endWith(e.span, errorType)
}

// towards are the attributes that say where an exchange goes.
func (r *Record) towards(u *routing.Upstream) []attribute.KeyValue {
	return append(to(u), semconv.McpMethodNameKey.String(r.method()))
}

// ErrorType is error.type of an exchange that brought no answer.
func ErrorType(err error) string {
	var failed *exchange.SendError
	switch {
	case !errors.As(err, &failed):
		return semconv.ErrorTypeOther.Value.AsString()
	case failed.Between:
		return "relay"
	case failed.TimedOut:
		return "timeout"
	case failed.Unstarted:
		return "not_started"
	case failed.Refused:
		return "connection_refused"
	case failed.Garbled:
		return "garbled"
	}
	return "broken_off"
}
