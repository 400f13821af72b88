package telemetry

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"berth/internal/series"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
)

// What berth's own instruments show is what the SDK's do: names, help, labels, buckets and values.
func TestOwnInstrumentsShowWhatTheSDKsDo(t *testing.T) {
	tel := start(t, Options{}, nil)
	registry := prometheus.NewRegistry()
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes), otelprometheus.WithoutScopeInfo())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(maxSeries), sdkmetric.WithView(sdkmetric.NewView(
		sdkmetric.Instrument{Name: "mcp.*.duration"}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: durationBuckets}})))
	measure(t, tel.MeterProvider())
	measure(t, provider)
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, of := range []string{"t_", "mcp_"} {
		got, want := linesOf(scrape(t, tel), of), linesOf(rec.Body.String(), of)
		if got != want || strings.Count(want, "\n") < 10 {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// linesOf are those that tell of metrics whose names begin so.
func linesOf(page, prefix string) string {
	var lines strings.Builder
	for line := range strings.Lines(page) {
		if name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE "); strings.HasPrefix(name, prefix) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// measure measures the same with any provider, by the instruments and by series of theirs.
func measure(t *testing.T, provider metric.MeterProvider) {
	t.Helper()
	meter := provider.Meter("berth/t")
	counter, err := meter.Int64Counter("t.things", metric.WithDescription("Things, \"quoted\"."), metric.WithUnit("{thing}"))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := provider.Meter("berth/t").Int64Counter("t.things", metric.WithDescription("Things, \"quoted\"."), metric.WithUnit("{thing}"))
	series.Begin(counter, series.Of("outcome", "ok", "failed"))
	ok := attribute.String("outcome", "ok")
	series.CountOf(counter, ok).Add(2)
	series.CountOf(again, ok).Add(3)
	counter.Add(t.Context(), 4, metric.WithAttributes(ok))
	_, _ = meter.Int64Counter("t.never")
	duration, err := mcpconv.NewServerOperationDuration(meter)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := meter.Float64Histogram("t.took", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(0.25, 1))
	usual, _ := meter.Float64Histogram("t.usual")
	for _, value := range []float64{0, 0.01, 0.25, 0.5, 1, 2, 300, 3000} {
		for _, h := range []metric.Float64Histogram{duration.Inst(), own, usual} {
			series.TimesOf(h, ok).Record(value)
			h.Record(t.Context(), value, metric.WithAttributes(attribute.Int("n", 1), ok))
		}
	}
	flood, _ := meter.Int64Counter("t.flood")
	for i := range 2 * maxSeries {
		series.CountOf(flood, attribute.Int("i", i)).Add(1)
	}
}

func TestNothingMeasuredIsLost(t *testing.T) {
	tel := start(t, Options{}, nil)
	meter := tel.MeterProvider().Meter("berth/t")
	counter, _ := meter.Int64Counter("t.things")
	histogram, _ := meter.Float64Histogram("t.took", metric.WithExplicitBucketBoundaries(1))
	const goroutines, each = 8, 2000
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				series.CountOf(counter).Add(1)
				series.TimesOf(histogram).Record(0.5)
			}
		})
	}
	for range 10 {
		scrape(t, tel)
	}
	all.Wait()
	got := scrape(t, tel)
	for _, want := range []string{
		fmt.Sprintf("t_things_total %d\n", goroutines*each), fmt.Sprintf("t_took_count %d\n", goroutines*each), fmt.Sprintf("t_took_sum %d\n", goroutines*each/2),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %q:\n%s", want, linesOf(got, "t_"))
		}
	}
}

// Who is gone for good is shown no more, and takes no series from those who come: also by who keeps series that it has looked up. One
// that comes back begins anew.
func TestWhoIsForgottenTakesNoSeriesFromOthers(t *testing.T) {
	tel := start(t, Options{}, nil)
	provider := tel.MeterProvider()
	meter := provider.Meter("berth/t")
	counter, _ := meter.Int64Counter("t.things")
	took, _ := meter.Float64Histogram("t.took")
	labels := func(name string) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("pool", "p"), attribute.String("upstream", name)}
	}
	counts := series.KeepCounts(counter, labels).Under(counter).Spread(series.PlaceOf)
	times := series.Keep(func(name string) series.Times { return series.TimesOf(took, labels(name)...) }).Under(took)
	meets := func(name string) {
		counts.Of(name).Add(1)
		times.Of(name).Record(1)
	}
	leaves := func(name string) { series.Forget(provider, series.Of("pool", "p"), series.Of("upstream", name)) }
	series.CountOf(counter, attribute.String("pool", "p")).Add(5)
	series.CountOf(counter, attribute.String("pool", "q"), attribute.String("upstream", "pod-0")).Add(7)
	meets("stays")
	for i := range maxSeries + 10 {
		name := fmt.Sprint("pod-", i)
		meets(name)
		leaves(name)
	}
	meets("pod-0")
	meets("stays")
	got := linesOf(scrape(t, tel), "t_things")
	for _, want := range []string{
		`t_things_total{pool="p"} 5`, `t_things_total{pool="q",upstream="pod-0"} 7`, `t_things_total{pool="p",upstream="stays"} 2`, `t_things_total{pool="p",upstream="pod-0"} 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if n := strings.Count(got, "upstream="); n != 3 {
		t.Errorf("%d upstreams are shown:\n%s", n, got)
	}
	if got := linesOf(scrape(t, tel), "t_took"); strings.Count(got, "t_took_count") != 2 || !strings.Contains(got, `t_took_count{pool="p",upstream="stays"} 2`) {
		t.Errorf("got\n%s", got)
	}
}

// A name that the SDK refuses is refused here.
func TestAMalformedNameIsRefused(t *testing.T) {
	tel := start(t, Options{}, nil)
	if _, err := tel.MeterProvider().Meter("berth/t").Int64Counter("1 thing"); err == nil {
		t.Error("a counter has a malformed name")
	}
	if _, err := tel.MeterProvider().Meter("berth/t").Float64Histogram(""); err == nil {
		t.Error("a histogram has no name")
	}
}

func TestASeriesThatIsHeldCostsNoAllocation(t *testing.T) {
	count, times := held(t)
	if n := testing.AllocsPerRun(100, func() { count.Add(1); times.Record(0.1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// held are a counter's and a histogram's series.
func held(t testing.TB) (series.Count, series.Times) {
	setEnvironment(t, nil)
	tel, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	meter := tel.MeterProvider().Meter("berth/t")
	counter, _ := meter.Int64Counter("t.things")
	duration, _ := mcpconv.NewServerOperationDuration(meter)
	ok := attribute.String("outcome", "ok")
	return series.CountOf(counter, ok), series.TimesOf(duration.Inst(), ok)
}

// BenchmarkMeasure is what a request counts and times, by series that are held and by the SDK.
func BenchmarkMeasure(b *testing.B) {
	b.Run("held", func(b *testing.B) {
		count, times := held(b)
		b.ReportAllocs()
		for b.Loop() {
			count.Add(1)
			times.Record(0.00005)
		}
	})
	b.Run("sdk", func(b *testing.B) {
		meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)).Meter("berth/t")
		counter, _ := meter.Int64Counter("t.things")
		duration, _ := mcpconv.NewServerOperationDuration(meter)
		count, times := series.CountOf(counter, attribute.String("outcome", "ok")), series.TimesOf(duration.Inst(), attribute.String("outcome", "ok"))
		b.ReportAllocs()
		for b.Loop() {
			count.Add(1)
			times.Record(0.00005)
		}
	})
}
