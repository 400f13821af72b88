package audit

import (
	"strconv"

	"berth/internal/mcp"
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

// requestLabels are what a request is counted by.
type requestLabels struct {
	pool, method string
	era          mcp.Era
	source       sticky.Source
	outcome      string
	class        int // the status' first digit; 0 where nobody was answered
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

// durationLabels are what requests, and exchanges with upstreams, are timed by.
type durationLabels struct {
	pool, method string
	errorType    string // "": it went well
	upstream     string // "": of a request
}

func (l durationLabels) attributes() []attribute.KeyValue {
	attributes := []attribute.KeyValue{attribute.String("pool", l.pool), semconv.McpMethodNameKey.String(l.method)}
	if l.errorType != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(l.errorType))
	}
	if l.upstream != "" {
		attributes = append(attributes, attribute.String("upstream", l.upstream))
	}
	return attributes
}
