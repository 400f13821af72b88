package health

import (
	"log/slog"
	"testing"
	"time"
)

// That another server serves is told as a recovery is, and is no outage.
func TestAnotherServerIsToldAsARecovery(t *testing.T) {
	h := New(slog.New(slog.DiscardHandler), true)
	before := h.Snapshot()
	h.Replaced()
	h.Replaced() // nobody was told of the first
	after := h.Snapshot()
	if !before.Back.IsZero() || after.Back.IsZero() || time.Now().Before(after.Back) || !after.Healthy || after.Since != before.Since {
		t.Errorf("got %+v after %+v", after, before)
	}
	select {
	case <-h.Recovered:
	default:
		t.Error("nobody is told")
	}
}
