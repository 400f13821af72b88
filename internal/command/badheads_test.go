package command

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/config"
	"berth/internal/memnet"
	"berth/internal/storage"

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
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, g, err := newSiteOf(t.Context(), store, cfg, observers{log: slog.New(slog.DiscardHandler), access: slog.New(slog.NewJSONHandler(&access, nil)), meter: meter})
		if err != nil {
			t.Fatal(err)
		}
		s.use(g)
		listener := memnet.Listen("berth")
		server, over := s.newFirstServer(cfg), make(chan error, 1)
		go func() { over <- server.Serve(listener) }()
		conn := dial(t, listener)
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

// A flood of them is counted, and told in a few lines, which say how many had none.
func TestAFloodOfRefusedRequestsHasFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var access bytes.Buffer
		reader := sdkmetric.NewManualReader()
		log := slog.New(slog.NewJSONHandler(&access, nil))
		b := newBadHeads(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), func() *slog.Logger { return log })
		for range 1000 {
			b.refused("192.0.2.1:7", 400, errors.New("x"))
		}
		time.Sleep(time.Second)
		b.refused("192.0.2.1:7", 400, errors.New("x"))
		told := access.String()
		if strings.Count(told, "\n") != 2 || !strings.Contains(told, `"client":"192.0.2.1"`) || !strings.Contains(told, `"unsaid":999`) || refusedBy(t, reader)["400"] != 1001 {
			t.Errorf("counted %v, told %s", refusedBy(t, reader), told)
		}
	})
}
