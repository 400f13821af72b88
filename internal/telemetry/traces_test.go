package telemetry

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sink is a collector that keeps what it got.
type sink struct {
	requests chan *collector.ExportTraceServiceRequest
	paths    chan string
}

func newSink() *sink {
	return &sink{requests: make(chan *collector.ExportTraceServiceRequest, 1), paths: make(chan string, 1)}
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := new(collector.ExportTraceServiceRequest)
	if err != nil || proto.Unmarshal(body, request) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	s.paths <- r.URL.Path
	s.requests <- request
}

// listen returns the URL of a collector.
func (s *sink) listen(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// send makes one span and returns what the collector got of it.
func (s *sink) send(t *testing.T, tel *Telemetry) string {
	t.Helper()
	_, span := tel.TracerProvider().Tracer("berth").Start(t.Context(), "tools/call greet")
	span.End()
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case request := <-s.requests:
		return request.String()
	default:
		t.Fatal("the collector got nothing")
		return ""
	}
}

func isRecording(t *testing.T, tel *Telemetry) bool {
	t.Helper()
	_, span := tel.TracerProvider().Tracer("berth").Start(t.Context(), "tools/call greet")
	defer span.End()
	return span.IsRecording()
}

func TestTracesAreOffUntilSomebodyNamesAnEndpoint(t *testing.T) {
	if isRecording(t, start(t, Options{}, nil)) {
		t.Error("got a recorded span, want none")
	}
}

func TestTracesExporterNoneWinsOverAnEndpoint(t *testing.T) {
	if isRecording(t, start(t, Options{TracesEndpoint: "http://127.0.0.1:1"}, map[string]string{"OTEL_TRACES_EXPORTER": "none"})) {
		t.Error("got a recorded span, want none")
	}
}

func TestTracesReachTheCollector(t *testing.T) {
	tests := []struct {
		name   string
		option bool // the endpoint is an option, not a variable
		env    map[string]string
		path   string
	}{
		{"option", true, nil, "/v1/traces"},
		{"variable", false, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, "/v1/traces"},
		{"variable for traces", false, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ""}, "/"},
		{"protocol for traces", false, map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
		}, "/v1/traces"},
		{"option over a variable", true, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "/v1/traces"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, o, env := newSink(), Options{Version: "1.2.3"}, map[string]string{}
			endpoint := s.listen(t)
			if tt.option {
				o.TracesEndpoint = endpoint
			}
			for name, value := range tt.env {
				env[name] = value
				if value == "" {
					env[name] = endpoint
				}
			}
			got := s.send(t, start(t, o, env))
			for _, want := range []string{"tools/call greet", `"berth"`, `"1.2.3"`} {
				if !strings.Contains(got, want) {
					t.Errorf("got %s, want it to have %s", got, want)
				}
			}
			if path := <-s.paths; path != tt.path {
				t.Errorf("got path %s, want %s", path, tt.path)
			}
		})
	}
}

func TestTheEnvironmentNamesTheService(t *testing.T) {
	s := newSink()
	tel := start(t, Options{TracesEndpoint: s.listen(t)}, map[string]string{"OTEL_SERVICE_NAME": "berth-eu"})
	if got := s.send(t, tel); !strings.Contains(got, `"berth-eu"`) {
		t.Errorf("got %s, want berth-eu", got)
	}
}

func TestStartRefusesAProtocolThatBerthDoesNotSpeak(t *testing.T) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		for _, protocol := range []string{"grpc", "http/json", "carrier-pigeon"} {
			t.Run(variable+"="+protocol, func(t *testing.T) {
				setEnvironment(t, map[string]string{variable: protocol})
				_, err := Start(t.Context(), Options{TracesEndpoint: "http://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)})
				if err == nil || !strings.Contains(err.Error(), protocol) || !strings.Contains(err.Error(), "http/protobuf") {
					t.Errorf("got %v, want an error that names %s, and http/protobuf", err, protocol)
				}
			})
		}
	}
}

// The exporter would take what is no URL for nothing, and send to an endpoint that nobody has named.
func TestStartRefusesAnEndpointThatIsNone(t *testing.T) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		for _, endpoint := range []string{"garbage://", "garbage://collector:4317", "http://", "https://:4318", "collector:4318", "127.0.0.1:4318", "/v1/traces", " "} {
			t.Run(variable+"="+endpoint, func(t *testing.T) {
				setEnvironment(t, map[string]string{variable: endpoint})
				_, err := Start(t.Context(), Options{Log: slog.New(slog.DiscardHandler)})
				if err == nil || !strings.Contains(err.Error(), variable+" must be an http or https URL") {
					t.Errorf("got %v, want an error that names the variable", err)
				}
			})
		}
	}
}

// One that another names in its place is of no matter.
func TestAnEndpointIsNotJudgedThatIsNotUsed(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"the option's is": {"OTEL_EXPORTER_OTLP_ENDPOINT": "garbage://", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "garbage://"},
		"that of traces":  {"OTEL_EXPORTER_OTLP_ENDPOINT": "garbage://", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"},
		"none":            {"OTEL_EXPORTER_OTLP_ENDPOINT": "garbage://", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{}
			if name == "the option's is" {
				o.TracesEndpoint = "http://127.0.0.1:1"
			}
			start(t, o, env)
		})
	}
}

// A protocol is of no matter where no traces are exported.
func TestProtocolIsNotJudgedWithoutTraces(t *testing.T) {
	if isRecording(t, start(t, Options{}, map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})) {
		t.Error("got a recorded span, want none")
	}
}
