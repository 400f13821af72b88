package telemetry

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// startTraces starts the OTLP exporter if somebody named an endpoint. Head
// sampling is the SDK's: the parent's decision, or what OTEL_TRACES_SAMPLER says.
func (t *Telemetry) startTraces(ctx context.Context, res *resource.Resource, env environment, endpoint string) error {
	if env.tracesOff || endpoint == "" && !env.endpoint {
		return nil
	}
	exporter, err := newExporter(ctx, env.protocol, endpoint)
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.tracers = provider
	t.stop = append(t.stop, provider.Shutdown)
	t.log.Info("exporting traces", "protocol", env.protocol)
	return nil
}

// newExporter returns an exporter that connects when it first has spans. Without
// an endpoint it takes the environment's.
func newExporter(ctx context.Context, protocol, endpoint string) (exporter sdktrace.SpanExporter, err error) {
	switch protocol {
	case protocolGRPC:
		var options []otlptracegrpc.Option
		if endpoint != "" {
			options = append(options, otlptracegrpc.WithEndpointURL(endpoint))
		}
		exporter, err = otlptracegrpc.New(ctx, options...)
	case protocolHTTP:
		var options []otlptracehttp.Option
		if endpoint != "" {
			options = append(options, otlptracehttp.WithEndpointURL(withTracesPath(endpoint)))
		}
		exporter, err = otlptracehttp.New(ctx, options...)
	default:
		err = fmt.Errorf("unknown OTLP protocol %q, must be %s or %s", protocol, protocolHTTP, protocolGRPC)
	}
	if err != nil {
		return nil, fmt.Errorf("telemetry: making the OTLP exporter: %w", err)
	}
	return exporter, nil
}

// withTracesPath appends OTLP's path to an endpoint that has none, as the
// specification does for OTEL_EXPORTER_OTLP_ENDPOINT.
func withTracesPath(endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("v1", "traces").String()
	}
	return endpoint
}
