package breaker

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/health"
)

// What went nowhere yet is not counted by the breaker.
func TestWhatSteppedOffIsNotCounted(t *testing.T) {
	b := New(health.New(slog.New(slog.DiscardHandler), true), Traffic{Alone: 1, Together: 1, Timeout: time.Second}).Of("")
	for range 2 * FailuresToOpen {
		if _, err := b.InTurn(t.Context(), b.Aboard, engine.OpEach, func(context.Context) error { return engine.ErrAshore }); err != engine.ErrAshore {
			t.Fatal(err)
		}
	}
	if failures := b.circuit.Counts().TotalFailures; failures > 0 || !b.Closed() {
		t.Errorf("got %d failures, want none", failures)
	}
}
