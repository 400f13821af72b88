package proxy_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"berth/internal/realtest"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// collect returns what the instruments say now.
func (b *berth) collect() (metrics []metricdata.Metrics) {
	b.t.Helper()
	var all metricdata.ResourceMetrics
	if err := b.metrics.Collect(b.t.Context(), &all); err != nil {
		b.t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		metrics = append(metrics, scope.Metrics...)
	}
	return metrics
}

// said is what instruments of that name say now.
func (b *berth) said(name string) (all []metricdata.Aggregation) {
	b.t.Helper()
	for _, m := range b.collect() {
		if m.Name == name {
			all = append(all, m.Data)
		}
	}
	return all
}

// storeOperations is how often the store was asked to do anything.
func (b *berth) storeOperations() (n uint64) {
	for _, data := range b.said("berth.store.operation.duration") {
		for _, point := range data.(metricdata.Histogram[float64]).DataPoints {
			n += point.Count
		}
	}
	return n
}

// questions is how often the fleet was asked for an id that the map does not know.
func (b *berth) questions() int64 { return b.sum("berth.asks") }

// sum is what the counters of that name say in all.
func (b *berth) sum(name string) (n int64) {
	for _, data := range b.said(name) {
		for _, point := range data.(metricdata.Sum[int64]).DataPoints {
			n += point.Value
		}
	}
	return n
}

// labels are the values that an attribute has on one instrument.
func (b *berth) labels(instrument, name string) map[string]bool {
	values := map[string]bool{}
	add := func(set attribute.Set) {
		if v, ok := set.Value(attribute.Key(name)); ok {
			values[v.AsString()] = true
		}
	}
	for _, data := range b.said(instrument) {
		switch data := data.(type) {
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				add(point.Attributes)
			}
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				add(point.Attributes)
			}
		}
	}
	return values
}

// span waits for the only ended span of that kind and name.
func (b *berth) span(kind, name string) sdktrace.ReadOnlySpan {
	b.t.Helper()
	var found []sdktrace.ReadOnlySpan
	realtest.Eventually(b.t, kind+" span "+name, func() bool {
		found = nil
		for _, s := range b.spans.Ended() {
			if s.SpanKind().String() == kind && s.Name() == name {
				found = append(found, s)
			}
		}
		return len(found) > 0
	})
	if len(found) > 1 {
		b.t.Fatalf("%d %s spans %q, want one", len(found), kind, name)
	}
	return found[0]
}

// attributes are a span's, as text.
func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// dump is all that the spans and instruments say, as JSON.
func dump(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines gathers JSON lines.
type lines struct {
	mu   sync.Mutex // guards the field below
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// take returns the lines so far and forgets them.
func (l *lines) take(t testing.TB) (records []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.text.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("no JSON line: %q: %v", line, err)
		}
		records = append(records, record)
	}
	l.text.Reset()
	return records
}
