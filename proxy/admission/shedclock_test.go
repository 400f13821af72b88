package admission

import (
	"log/slog"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/proxy/inbound"
)

// That load was shed is over in its time though the machine's clock was set back.
func TestSheddingEndsThoughTheClockWentBack(t *testing.T) {
	g := New(inbound.Limits{}.WithDefaults(), nil, slog.New(slog.DiscardHandler))
	if got := g.Shedding(); got != "" {
		t.Errorf("before any was: got %q", got)
	}
	_ = g.full(shedInFlight)
	g.began = realtest.SetBack(g.began, -time.Hour)
	if g.Shedding() == "" {
		t.Error("it is not told")
	}
	g.lastShed.Add(-int64(relieved + time.Millisecond)) // so long ago
	if got := g.Shedding(); got != "" {
		t.Errorf("got %q", got)
	}
}
