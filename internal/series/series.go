// Package series has counters stand at 0 from the start, for every label value that is known
// then. A counter that appears with its first event has no value before it, so that rate()
// does not see that event: an alert on it comes with the second one, or never.
package series

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

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

// maxSets bounds the sets that are kept. Instruments take as many (package telemetry).
const maxSets = 1000

// Set is a set of attributes as instruments take it.
type Set struct {
	Add    []metric.AddOption
	Record []metric.RecordOption
}

// Sets are the sets of what is counted often, each built once. Its methods may be called
// concurrently.
type Sets[K comparable] struct {
	attributes func(K) []attribute.KeyValue
	mu         sync.Mutex                // guards changes of known
	known      atomic.Pointer[map[K]Set] // what it points to does not change
}

// NewSets returns sets of these attributes. The slice that the function returns is kept.
func NewSets[K comparable](attributes func(K) []attribute.KeyValue) *Sets[K] {
	s := &Sets[K]{attributes: attributes}
	s.known.Store(&map[K]Set{})
	return s
}

// Of returns the set that key stands for.
func (s *Sets[K]) Of(key K) Set {
	if set, ok := (*s.known.Load())[key]; ok {
		return set
	}
	option := metric.WithAttributeSet(attribute.NewSet(s.attributes(key)...))
	set := Set{[]metric.AddOption{option}, []metric.RecordOption{option}}
	s.keep(key, set)
	return set
}

func (s *Sets[K]) keep(key K, set Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.known.Load()
	if len(known) >= maxSets {
		return
	}
	more := maps.Clone(known)
	more[key] = set
	s.known.Store(&more)
}
