package health

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
)

// A bare number of nanoseconds stood in the log.
func TestLengthOfAnOutageBearsItsUnit(t *testing.T) {
	var log realtest.Journal
	h := &Monitor{Log: slog.New(slog.NewJSONHandler(&log, nil)), Recovered: make(chan struct{}, 1)}
	lost := time.Now()
	h.announce(Status{Since: lost}, Status{Healthy: true, Since: lost.Add(2500 * time.Millisecond)}, false)
	if got := log.String(); !strings.Contains(got, `"outage":"2.5s"`) {
		t.Errorf("got %s, want an outage of 2.5s", got)
	}
}
