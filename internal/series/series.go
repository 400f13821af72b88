// Package series has counters stand at 0 from the start, for every label value that is known
// then. A counter that appears with its first event has no value before it, so that rate()
// does not see that event: an alert on it comes with the second one, or never.
//
// A series that is counted with each request is looked up once, and held (Count, Times, Kept).
package series

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Label is a label of a counter, with the values that it is known to have.
type Label struct {
	Name   string
	Values []string
}

// Of returns a label.
func Of(name string, values ...string) Label { return Label{name, values} }

// Begin has counter stand at 0 for each combination of the labels' values.
func Begin(counter metric.Int64Counter, labels ...Label) { begin(counter, nil, labels) }

func begin(counter metric.Int64Counter, chosen []attribute.KeyValue, rest []Label) {
	if len(rest) == 0 {
		counter.Add(context.Background(), 0, metric.WithAttributes(chosen...))
		return
	}
	for _, value := range rest[0].Values {
		begin(counter, append(chosen[:len(chosen):len(chosen)], attribute.String(rest[0].Name, value)), rest[1:])
	}
}

// Forget has the instruments of provider drop their series with these labels, each with one value, as of who is gone for good; those of
// package telemetry can.
func Forget(provider metric.MeterProvider, labels ...Label) {
	forgetful, ok := provider.(interface{ Forget(...attribute.KeyValue) })
	if !ok {
		return
	}
	attributes := make([]attribute.KeyValue, len(labels))
	for i, l := range labels {
		attributes[i] = attribute.String(l.Name, l.Values[0])
	}
	forgetful.Forget(attributes...)
}
