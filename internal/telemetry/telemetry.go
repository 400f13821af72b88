// Package telemetry is what berth tells about itself: metrics to be scraped, and
// traces where somebody has named a collector.
//
// It is the one place that knows the OpenTelemetry SDK and its exporters. The
// packages that measure take a metric.MeterProvider and a trace.TracerProvider
// and know the API only.
//
// It promises that nothing is sent anywhere unless the configuration or the
// OTEL_* environment names an endpoint, that a collector which is away costs
// dropped spans and a warning but never a request, and that an instrument's
// series are bounded. The environment is read as OpenTelemetry specifies it,
// once, in [Start].
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
)

// Options says what [Start] starts.
type Options struct {
	Version  string // berth's own, for service.version and berth_build_info
	Revision string // the commit that berth was built from, "" if unknown
	// TracesEndpoint is an OTLP endpoint's URL, and wins over the environment's. Without a path it
	// gets /v1/traces. Empty: only where the environment names one.
	TracesEndpoint string
	Log            *slog.Logger // hears of an exporter that fails. Required.
}

// Telemetry holds the providers that the rest of berth measures with.
type Telemetry struct {
	meters   metric.MeterProvider
	tracers  trace.TracerProvider
	registry *prometheus.Registry
	log      *slog.Logger
	stop     []func(context.Context) error
}

// Start makes the providers; it connects to nothing. With OTEL_SDK_DISABLED=true
// both of them do nothing, and only the process's own metrics remain. It fails
// on settings that contradict themselves, such as an OTLP protocol that it does not
// speak.
//
// The OpenTelemetry SDK reports its errors to one handler a process; Start makes
// that handler write to Options.Log, since the default prints unstructured lines
// between the JSON ones.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{
		meters:   noopmetric.NewMeterProvider(),
		tracers:  nooptrace.NewTracerProvider(),
		registry: newRegistry(o.Version, o.Revision),
		log:      o.Log,
	}
	env := readEnvironment()
	if env.disabled {
		return t, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		o.Log.Warn("telemetry failed", "error", err)
	}))
	res, err := newResource(ctx, o.Version)
	if err != nil {
		return nil, err
	}
	if err := t.startMetrics(res); err != nil {
		return nil, err
	}
	if err := t.startTraces(ctx, res, env, o.TracesEndpoint); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	return t, nil
}

// newResource describes this process. The environment comes last and so wins.
func newResource(ctx context.Context, version string) (*resource.Resource, error) {
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("berth"), semconv.ServiceVersion(version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("telemetry: describing the resource: %w", err)
	}
	return res, nil
}

// MeterProvider makes the instruments that [Telemetry.MetricsHandler] shows.
func (t *Telemetry) MeterProvider() metric.MeterProvider { return t.meters }

// TracerProvider makes tracers, which record nothing while traces are off.
func (t *Telemetry) TracerProvider() trace.TracerProvider { return t.tracers }

// Shutdown sends what is still queued, as long as ctx allows. A second call does nothing.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, stop := range t.stop {
		errs = append(errs, stop(ctx))
	}
	t.stop = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("telemetry: shutting down: %w", err)
	}
	return nil
}
