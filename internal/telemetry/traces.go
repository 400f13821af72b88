package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// startTraces starts the exporter if somebody named an endpoint. Sampling is the SDK's
// (OTEL_TRACES_SAMPLER).
func (t *Telemetry) startTraces(ctx context.Context, res *resource.Resource, env environment, endpoint string) error {
	if env.tracesOff || endpoint == "" && env.endpoint == "" {
		return nil
	}
	if env.protocol != protocolHTTP {
		return fmt.Errorf("telemetry: traces go over the OTLP protocol %s, not over %q: name it, or nothing, in OTEL_EXPORTER_OTLP_TRACES_PROTOCOL "+
			"and OTEL_EXPORTER_OTLP_PROTOCOL, and an endpoint of OTLP/HTTP, whose usual port is 4318", protocolHTTP, env.protocol)
	}
	if endpoint == "" && !isEndpoint(os.Getenv(env.endpoint)) {
		return fmt.Errorf("telemetry: %s must be an http or https URL with a host, such as http://127.0.0.1:4318", env.endpoint)
	}
	exporter, err := newExporter(ctx, endpoint)
	if err != nil {
		return fmt.Errorf("telemetry: making the OTLP exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.tracers = provider
	t.stop = append(t.stop, provider.Shutdown)
	t.log.Info("exporting traces", "protocol", protocolHTTP)
	return nil
}

// newExporter returns an exporter that connects when it first has spans.
func newExporter(ctx context.Context, endpoint string) (sdktrace.SpanExporter, error) {
	if endpoint == "" {
		return otlptracehttp.New(ctx)
	}
	return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(withTracesPath(endpoint)))
}

// isEndpoint reports whether the exporter can send to s, which it would judge at the first span, or replace by an endpoint of its own.
func isEndpoint(s string) bool {
	u, err := url.Parse(strings.TrimSpace(s))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// withTracesPath appends OTLP's path as the specification does for OTEL_EXPORTER_OTLP_ENDPOINT.
func withTracesPath(endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("v1", "traces").String()
	}
	return endpoint
}

const protocolHTTP = "http/protobuf"

// environment is what berth reads of the OTEL_* variables (OpenTelemetry specification,
// "OpenTelemetry Protocol Exporter"). The exporters read the rest.
type environment struct {
	disabled  bool   // OTEL_SDK_DISABLED
	tracesOff bool   // OTEL_TRACES_EXPORTER=none
	endpoint  string // the variable that names an OTLP endpoint for traces; "": none does
	protocol  string // for traces; http/protobuf unless named
}

// readEnvironment takes an empty variable for an unset one, as specified.
func readEnvironment() environment {
	return environment{
		disabled:  strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"),
		tracesOff: os.Getenv("OTEL_TRACES_EXPORTER") == "none",
		endpoint:  firstSet("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
		protocol: cmp.Or(
			os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
			os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"),
			protocolHTTP,
		),
	}
}

// firstSet is the first of these variables that is set, "" if none is.
func firstSet(variables ...string) string {
	for _, name := range variables {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}
