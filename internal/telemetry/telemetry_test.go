package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
)

// start starts telemetry in an environment of its own: only the OTEL_* variables
// in env are set.
func start(t *testing.T, o Options, env map[string]string) *Telemetry {
	t.Helper()
	setEnvironment(t, env)
	o.Log = slog.New(slog.DiscardHandler)
	tel, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tel.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tel
}

func setEnvironment(t testing.TB, env map[string]string) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_EXPORTER", "OTEL_TRACES_SAMPLER",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	} {
		t.Setenv(name, env[name])
	}
}

func scrape(t *testing.T, tel *Telemetry) string {
	t.Helper()
	rec := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(rec.Result().Body)
	if err != nil || rec.Code != 200 {
		t.Fatalf("scraping: got %d, %v", rec.Code, err)
	}
	return string(body)
}

// A scraper that hangs up was a warning for each metric that was left.
func TestAScraperThatHangsUpIsNoWarning(t *testing.T) {
	setEnvironment(t, nil)
	for _, encoding := range []string{"", "gzip"} {
		log := new(bytes.Buffer)
		tel, err := Start(t.Context(), Options{Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest("GET", "/metrics", nil)
		request.Header.Set("Accept-Encoding", encoding)
		leaves := &leaving{ResponseRecorder: httptest.NewRecorder(), after: 1}
		tel.MetricsHandler().ServeHTTP(leaves, request)
		if got := log.String(); got != "" || leaves.after != 0 || leaves.failed > 1 {
			t.Errorf("encoding %q: logged\n%s\nwant nothing, and one write at most that fails, got %d", encoding, got, leaves.failed)
		}
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// leaving is a client that goes after so many writes.
type leaving struct {
	*httptest.ResponseRecorder
	after, failed int
}

func (l *leaving) Write(p []byte) (int, error) {
	if l.after == 0 {
		l.failed++
		return 0, syscall.EPIPE
	}
	l.after--
	return l.ResponseRecorder.Write(p)
}

func TestMetricsTellOfTheProcess(t *testing.T) {
	got := scrape(t, start(t, Options{Version: "1.2.3", Revision: "abc"}, nil))
	for _, want := range []string{`berth_build_info{goversion="go`, `revision="abc",version="1.2.3"} 1`, "go_goroutines ", "process_open_fds ", `service_version="1.2.3"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
}

func TestDurationsHaveTheBucketsOfTheConventions(t *testing.T) {
	tel := start(t, Options{}, nil)
	duration, err := mcpconv.NewServerOperationDuration(tel.MeterProvider().Meter("berth"))
	if err != nil {
		t.Fatal(err)
	}
	duration.Record(t.Context(), 0.3, mcpconv.MethodNameToolsCall)
	got := scrape(t, tel)
	for _, want := range []string{
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",le="0.2"} 0`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",le="0.5"} 1`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",le="300"} 1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %q:\n%s", want, linesWith(got, "mcp_"))
		}
	}
	if n := strings.Count(got, "_seconds_bucket{mcp_method_name"); n != len(durationBuckets)+1 {
		t.Errorf("got %d buckets, want %d", n, len(durationBuckets)+1)
	}
}

// The store's operations take microseconds; buckets meant for tools would put all
// of them into the first.
func TestOtherDurationsKeepTheBucketsTheyBring(t *testing.T) {
	tel := start(t, Options{}, nil)
	duration, err := tel.MeterProvider().Meter("berth").Float64Histogram("berth.store.operation.duration",
		metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(0.0005, 1))
	if err != nil {
		t.Fatal(err)
	}
	duration.Record(t.Context(), 0.0001)
	if want, got := `berth_store_operation_duration_seconds_bucket{le="0.0005"} 1`, scrape(t, tel); !strings.Contains(got, want) {
		t.Errorf("the metrics lack %q:\n%s", want, linesWith(got, "berth_store"))
	}
}

func TestALabelThatVariesDoesNotMakeSeriesWithoutEnd(t *testing.T) {
	tel := start(t, Options{}, nil)
	counter, err := tel.MeterProvider().Meter("berth").Int64Counter("berth.flood")
	if err != nil {
		t.Fatal(err)
	}
	const adds = 2 * maxSeries
	for i := range adds {
		counter.Add(t.Context(), 1, metric.WithAttributes(attribute.String("id", fmt.Sprint(i))))
	}
	got := linesWith(scrape(t, tel), "berth_flood_total{")
	if n := strings.Count(got, "\n"); n != maxSeries {
		t.Errorf("got %d series, want %d", n, maxSeries)
	}
	if want := fmt.Sprintf(`otel_metric_overflow="true"} %d`, adds-(maxSeries-1)); !strings.Contains(got, want) {
		t.Errorf("the metrics lack %q", want)
	}
}

func TestGaugesTellOfAllThatStands(t *testing.T) {
	tel := start(t, Options{}, nil)
	const stands = 2 * maxSeries
	_, err := tel.MeterProvider().Meter("berth").Int64ObservableGauge("berth.stands", metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
		for i := range stands {
			o.Observe(1, metric.WithAttributes(attribute.Int("upstream", i)))
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(linesWith(scrape(t, tel), "berth_stands{"), "\n"); n != stands {
		t.Errorf("got %d series, want %d", n, stands)
	}
}

func TestADisabledSDKLeavesTheProcessMetrics(t *testing.T) {
	tel := start(t, Options{TracesEndpoint: "http://127.0.0.1:1"}, map[string]string{"OTEL_SDK_DISABLED": "true"})
	counter, err := tel.MeterProvider().Meter("berth").Int64Counter("berth.some")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(t.Context(), 1)
	got := scrape(t, tel)
	if strings.Contains(got, "berth_some") || !strings.Contains(got, "berth_build_info") {
		t.Errorf("got %s, want berth_build_info and not berth_some", linesWith(got, "berth_"))
	}
	if isRecording(t, tel) {
		t.Error("got a recorded span, want none")
	}
}

func TestTheSDKsErrorsGoToTheLog(t *testing.T) {
	setEnvironment(t, nil)
	var log bytes.Buffer
	tel, err := Start(t.Context(), Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	otel.Handle(errors.New("collector away"))
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, `"level":"WARN","msg":"telemetry failed","error":"collector away"`) {
		t.Errorf("got log %s, want a warning", got)
	}
}

// linesWith returns the lines of text that contain part.
func linesWith(text, part string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			b.WriteString(line)
		}
	}
	return b.String()
}
