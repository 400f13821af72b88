package doors

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counted is how many requests HTTP has refused.
func counted(t *testing.T, reader sdkmetric.Reader) (n int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, point := range all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints {
		n += point.Value
	}
	return n
}

// A flood of them is counted, and told in a few lines, which say how many had none.
func TestAFloodOfRefusedRequestsHasFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var access bytes.Buffer
		reader := sdkmetric.NewManualReader()
		log := slog.New(slog.NewJSONHandler(&access, nil))
		b := NewBadHeads(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), func() *slog.Logger { return log })
		for range 1000 {
			b.Refused("192.0.2.1:7", 400, errors.New("x"))
		}
		time.Sleep(time.Second)
		b.Refused("192.0.2.1:7", 400, errors.New("x"))
		told := access.String()
		if strings.Count(told, "\n") != 2 || !strings.Contains(told, `"client":"192.0.2.1"`) || !strings.Contains(told, `"unsaid":999`) || counted(t, reader) != 1001 {
			t.Errorf("counted %v, told %s", counted(t, reader), told)
		}
	})
}

// Lines go on though the machine's clock was set back.
func TestRefusedRequestsAreToldThoughTheClockWentBack(t *testing.T) {
	var access bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&access, nil))
	b := NewBadHeads(nil, func() *slog.Logger { return log })
	b.Refused("192.0.2.1:7", 400, errors.New("x"))
	b.began = realtest.SetBack(b.began, -time.Hour)
	realtest.Eventually(t, "another line", func() bool {
		b.Refused("192.0.2.1:7", 400, errors.New("x"))
		return strings.Count(access.String(), "\n") == 2
	})
}
