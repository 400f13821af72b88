package series

import (
	"sync/atomic"
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

func TestSeriesAreLookedUpOnceAndBounded(t *testing.T) {
	made := map[int]int{}
	reader := sdkmetric.NewManualReader()
	counter, _ := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(0)).Meter("t").Int64Counter("c")
	kept := KeepCounts(counter, func(n int) []attribute.KeyValue {
		made[n]++
		return []attribute.KeyValue{attribute.Int("n", n)}
	})
	for range 2 {
		for n := range maxKept + 1 {
			kept.Of(n).Add(1)
		}
	}
	if made[0] != 1 || made[maxKept-1] != 1 || made[maxKept] != 2 {
		t.Errorf("made %d, %d and, beyond the bound, %d times", made[0], made[maxKept-1], made[maxKept])
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	points := all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints
	if len(points) != maxKept+1 {
		t.Errorf("%d series", len(points))
	}
	for _, point := range points {
		if point.Value != 2 {
			t.Errorf("%v is %d", point.Attributes, point.Value)
		}
	}
}

func TestAKnownSeriesCostsNoAllocation(t *testing.T) {
	type labels struct{ pool, method string }
	kept := Keep(func(l labels) *labels { return &l })
	for _, spread := range []func(labels) uint{nil, func(l labels) uint { return uint(len(l.method)) }} {
		kept.Spread(spread).Of(labels{"main", "tasks/get"})
		var got *labels
		if n := testing.AllocsPerRun(100, func() { got = kept.Of(labels{"main", "tasks/get"}) }); n != 0 || got.pool != "main" {
			t.Errorf("%v allocations for %v", n, got)
		}
	}
}

// Keys that fall on one place are still told apart, and each is looked up once.
func TestKeysAtOnePlaceAreToldApart(t *testing.T) {
	made := 0
	kept := Keep(func(n int) *int { made++; return &n }).Spread(func(int) uint { return 7 })
	for range 3 {
		for n := range 5 {
			if got := kept.Of(n); *got != n {
				t.Errorf("got %d, want %d", *got, n)
			}
		}
	}
	if made != 5 {
		t.Errorf("made %d times", made)
	}
}

// forgets is an instrument that has forgotten series so often.
type forgets struct{ times atomic.Uint64 }

func (f *forgets) Forgotten() *atomic.Uint64 { return &f.times }

// What is kept is looked up once more after series were forgotten, and leaves its room to others.
func TestSeriesAreLookedUpAnewOnceSomeAreForgotten(t *testing.T) {
	made := map[int]int{}
	instrument := new(forgets)
	for name, spread := range map[string]func(int) uint{"map": nil, "recent": func(n int) uint { return uint(n) }} {
		clear(made)
		kept := Keep(func(n int) int { made[n]++; return made[n] }).Under(instrument).Spread(spread)
		for n := range maxKept {
			kept.Of(n)
		}
		instrument.times.Add(1)
		for range 2 {
			if got := kept.Of(7); got != 2 {
				t.Errorf("%s: made %d times", name, got)
			}
			if got := kept.Of(maxKept); got != 1 {
				t.Errorf("%s: beside those that are forgotten, made %d times", name, got)
			}
		}
	}
}
