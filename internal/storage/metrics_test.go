package storage_test

import (
	"testing"

	"berth/internal/storage"
	"berth/internal/storage/redistest"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collect reads the instruments by name.
func collect(t *testing.T, reader metric.Reader) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatalf("Collect: %v", err)
	}
	found := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			found[m.Name] = m.Data
		}
	}
	return found
}

// sum adds up the points of a counter that carry a label with that value.
func sum(data metricdata.Aggregation, label, value string) int64 {
	var total int64
	counter, _ := data.(metricdata.Sum[int64])
	for _, point := range counter.DataPoints {
		for _, attribute := range point.Attributes.ToSlice() {
			if string(attribute.Key) == label && attribute.Value.AsString() == value {
				total += point.Value
			}
		}
	}
	return total
}

func healthy(t *testing.T, data metricdata.Aggregation) int64 {
	t.Helper()
	gauge, ok := data.(metricdata.Gauge[int64])
	if !ok || len(gauge.DataPoints) != 1 {
		t.Fatalf("berth.store.healthy: got %v, want one point", data)
	}
	return gauge.DataPoints[0].Value
}

func TestMetricsTellWhatFailedAndWhy(t *testing.T) {
	server := redistest.Start(t)
	reader := metric.NewManualReader()
	s := open(t, server.URL(), storage.Options{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	put(t, s, "k", "v")
	_, _ = s.Get(t.Context(), "unknown")
	before := collect(t, reader)
	if got := healthy(t, before["berth.store.healthy"]); got != 1 {
		t.Errorf("berth.store.healthy: got %d, want 1", got)
	}
	for _, point := range before["berth.store.errors"].(metricdata.Sum[int64]).DataPoints {
		if point.Value != 0 {
			t.Errorf("berth.store.errors: got %d of %v, want none: a miss is an answer", point.Value, point.Attributes.ToSlice())
		}
	}

	server.Kill()
	for range 10 {
		_, _ = s.Get(t.Context(), "k")
	}
	after := collect(t, reader)
	errors := after["berth.store.errors"]
	if refused, open := sum(errors, "reason", "refused"), sum(errors, "reason", "breaker_open"); refused != 3 || open != 7 {
		t.Errorf("berth.store.errors: got %d refused and %d breaker_open, want 3 and 7", refused, open)
	}
	if got := sum(errors, "operation", "get"); got != 10 {
		t.Errorf("berth.store.errors of get: got %d, want 10", got)
	}
	if got := healthy(t, after["berth.store.healthy"]); got != 0 {
		t.Errorf("berth.store.healthy: got %d, want 0", got)
	}
	durations, _ := after["berth.store.operation.duration"].(metricdata.Histogram[float64])
	var asked uint64
	for _, point := range durations.DataPoints {
		asked += point.Count
	}
	if asked != 5 { // one put, the miss, three refused
		t.Errorf("berth.store.operation.duration: got %d operations, want 5", asked)
	}
}
