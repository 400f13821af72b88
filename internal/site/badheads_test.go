package site

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/doors"
	"berth/internal/memnet"
	"berth/internal/storage/storagetest"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// refusedBy are the requests that HTTP has refused, by status.
func refusedBy(t *testing.T, reader sdkmetric.Reader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "berth.http.refused" {
				continue
			}
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
				status, _ := point.Attributes.Value("status")
				counts[status.AsString()] += point.Value
			}
		}
	}
	return counts
}

// A request that HTTP itself refuses is counted, and has a line in the access log.
func TestRequestsThatHTTPRefusesAreTold(t *testing.T) {
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n":            "431",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n": "400",
	} {
		var access bytes.Buffer
		reader := sdkmetric.NewManualReader()
		meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		cfg, err := config.Parse("x", []byte("[[pools]]\npath = \"/mcp\"\nupstreams = [{ url = \"http://127.0.0.1:1/mcp\" }]\n"))
		if err != nil {
			t.Fatal(err)
		}
		store := storagetest.OpenMemory(t)
		s, err := New(t.Context(), Store{Store: store}, cfg, Observers{Log: slog.New(slog.DiscardHandler), Access: slog.New(slog.NewJSONHandler(&access, nil)), Meter: meter})
		if err != nil {
			t.Fatal(err)
		}
		s.Begin(false)
		listener := memnet.Listen("berth")
		server, over := doors.HTTP1(s.DoorOptions(cfg)), make(chan error, 1)
		go func() { over <- server.Serve(listener) }()
		conn, err := listener.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		go func() { _, _ = io.WriteString(conn, request) }() // which may be answered before it is whole
		answer, _ := io.ReadAll(conn)
		_ = server.Close()
		<-over
		if !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) || refusedBy(t, reader)[want] != 1 {
			t.Errorf("got %q, counted %v", answer, refusedBy(t, reader))
		}
		if line := access.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, `"msg":"request","status":`+want) || !strings.Contains(line, `"error":"http1: `) {
			t.Errorf("told %q", line)
		}
	}
}
