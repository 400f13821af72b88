package series

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestEveryKnownCombinationBeginsAtZero(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("t")
	plain, _ := meter.Int64Counter("plain")
	labelled, _ := meter.Int64Counter("labelled")
	Begin(plain)
	Begin(labelled, Of("a", "1", "2"), Of("b", "x", "y"))
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
			got[m.Name+" "+point.Attributes.Encoded(attribute.DefaultEncoder())]++
			if point.Value != 0 {
				t.Errorf("%s is %d", m.Name, point.Value)
			}
		}
	}
	for _, want := range []string{"plain ", "labelled a=1,b=x", "labelled a=1,b=y", "labelled a=2,b=x", "labelled a=2,b=y"} {
		if got[want] != 1 {
			t.Errorf("%s: %d times in %v", want, got[want], got)
		}
	}
}

func TestSetsAreBuiltOnceAndBounded(t *testing.T) {
	built := map[int]int{}
	sets := NewSets(func(n int) []attribute.KeyValue {
		built[n]++
		return []attribute.KeyValue{attribute.Int("n", n)}
	})
	reader := sdkmetric.NewManualReader()
	counter, _ := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(0)).Meter("t").Int64Counter("c")
	for range 2 {
		for n := range maxSets + 1 {
			counter.Add(t.Context(), 1, sets.Of(n).Add...)
		}
	}
	if built[0] != 1 || built[maxSets-1] != 1 || built[maxSets] != 2 {
		t.Errorf("built %d, %d and, beyond the bound, %d times", built[0], built[maxSets-1], built[maxSets])
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	points := all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints
	if len(points) != maxSets+1 {
		t.Errorf("%d series", len(points))
	}
	for _, point := range points {
		if point.Value != 2 {
			t.Errorf("%v is %d", point.Attributes, point.Value)
		}
	}
}

func TestAKnownSetCostsNoAllocation(t *testing.T) {
	type labels struct{ pool, method string }
	sets := NewSets(func(l labels) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("pool", l.pool), attribute.String("method", l.method)}
	})
	sets.Of(labels{"main", "tasks/get"})
	var got Set
	if n := testing.AllocsPerRun(100, func() { got = sets.Of(labels{"main", "tasks/get"}) }); n != 0 || len(got.Add) != 1 {
		t.Errorf("%v allocations for %v", n, got)
	}
}
