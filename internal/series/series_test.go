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
