package telemetry

import (
	"cmp"
	"os"
	"strings"
)

// protocolHTTP is the OTLP protocol that berth speaks.
const protocolHTTP = "http/protobuf"

// environment is what berth itself reads of the OTEL_* variables
// (OpenTelemetry specification, "Environment Variable Specification" and
// "OpenTelemetry Protocol Exporter"). The exporters read the rest: headers,
// certificates, time-outs, sampler.
type environment struct {
	disabled  bool   // OTEL_SDK_DISABLED
	tracesOff bool   // OTEL_TRACES_EXPORTER=none
	endpoint  bool   // an OTLP endpoint for traces is named
	protocol  string // for traces; http/protobuf unless named
}

// readEnvironment takes an empty variable for an unset one, as specified.
func readEnvironment() environment {
	return environment{
		disabled:  strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"),
		tracesOff: os.Getenv("OTEL_TRACES_EXPORTER") == "none",
		endpoint:  os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "",
		protocol: cmp.Or(
			os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
			os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"),
			protocolHTTP,
		),
	}
}
