package audit

import (
	"strconv"

	"berth/internal/mcp"
	"berth/internal/series"
	"berth/sticky"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// Drop is why a message on a subscription's stream was dropped.
type Drop string

// The reasons.
const (
	DropUnasked Drop = "unasked" // the client did not ask for it, or the upstream has not agreed to it
	DropOther   Drop = "other"   // a request, or no message
)

// requestLabels are what a request is counted and timed by.
type requestLabels struct {
	pool, method string
	era          mcp.Era
	source       sticky.Source
	outcome      string
	errorType    string // "": it went well
	class        int    // the status' first digit; 0 where nobody was answered
}

// place differs between the requests that a fleet has most of.
func (l requestLabels) place() uint {
	return series.PlaceOf(l.pool) + 3*series.PlaceOf(l.method) + 7*series.PlaceOf(string(l.source)) + uint(l.class)
}

func (l requestLabels) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("pool", l.pool), semconv.McpMethodNameKey.String(l.method),
		attribute.String("era", l.era.String()),
		attribute.String("source", string(l.source)),
		attribute.String("outcome", l.outcome),
		attribute.String("status", statusClass(l.class)),
	}
}

// statusClass is "2xx" and so on; "none" where nobody was answered.
func statusClass(class int) string {
	if class == 0 {
		return "none"
	}
	return strconv.Itoa(class) + "xx"
}

// ofDuration are the attributes by which requests are timed.
func (l requestLabels) ofDuration() []attribute.KeyValue {
	return ofDuration(l.pool, l.method, l.errorType)
}

// requestSeries are the series that a request counts in.
type requestSeries struct {
	count series.Count
	took  series.Times
}

// exchangeLabels are what exchanges with upstreams are timed by.
type exchangeLabels struct {
	pool, method string
	errorType    string // "": it went well
	upstream     string
}

// place differs between the upstreams of a pool, whose names end in a number as a rule.
func (l exchangeLabels) place() uint {
	return series.PlaceOf(l.pool) + 3*series.PlaceOf(l.method) + 7*series.PlaceOf(l.upstream)
}

func (l exchangeLabels) attributes() []attribute.KeyValue {
	return append(ofDuration(l.pool, l.method, l.errorType), attribute.String("upstream", l.upstream))
}

func ofDuration(pool, method, errorType string) []attribute.KeyValue {
	attributes := []attribute.KeyValue{attribute.String("pool", pool), semconv.McpMethodNameKey.String(method)}
	if errorType != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(errorType))
	}
	return attributes
}
