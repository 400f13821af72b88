package telemetry

import (
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/otlptranslator"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
)

// maxSeries bounds the attribute sets of one counter or histogram, beyond which otel.metric.overflow counts:
// a client that varies a label costs exactness and not memory.
const maxSeries = 1000

func newRegistry(version, revision string) *prometheus.Registry {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "berth_build_info",
		Help: "Always 1; the labels tell which berth is running.",
		ConstLabels: prometheus.Labels{
			"version":   version,
			"revision":  revision,
			"goversion": runtime.Version(),
		},
	})
	build.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		build,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return registry
}

func (t *Telemetry) startMetrics(res *resource.Resource) error {
	own := new(meters)
	reader, err := otelprometheus.New(
		otelprometheus.WithProducer(own),
		otelprometheus.WithRegisterer(t.registry),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
		// Three labels more on every series would say nothing: all scopes are ours.
		otelprometheus.WithoutScopeInfo(),
	)
	if err != nil {
		return fmt.Errorf("telemetry: making the Prometheus exporter: %w", err)
	}
	provider := sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(reader),
		sdkmetric.WithResource(res),
		// What the SDK counts itself are gauges of what stands now, labelled with what the configuration and its sources name.
		sdkmetric.WithCardinalityLimit(0),
		// The text format cannot carry exemplars, so none are gathered; own instruments gather none.
		sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter),
	)
	own.MeterProvider = provider
	t.meters = own
	t.stop = append(t.stop, provider.Shutdown)
	return nil
}
