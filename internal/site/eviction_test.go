package site

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// Row D13: who runs the server may change its policy at any time, and hears once of each
// change what it means for calls.
func TestEvictionIsToldAtEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var journal realtest.Journal
		var health atomic.Pointer[storage.Health]
		health.Store(&storage.Health{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- warnOfEviction(ctx, slog.New(slog.NewTextHandler(&journal, nil)), func() storage.Health { return *health.Load() })
		}()
		for _, step := range []struct {
			policy           string
			warnings, relief int
		}{
			{"", 0, 0}, {"allkeys-lru", 1, 0}, {"volatile-ttl", 2, 0}, {"", 2, 1}, {"allkeys-lru", 3, 1},
		} {
			health.Store(&storage.Health{Healthy: true, Evicts: step.policy})
			time.Sleep(10 * evictionEvery)
			if got := journal.Count("level=WARN"); got != step.warnings {
				t.Errorf("policy %q: got %d warnings, want %d", step.policy, got, step.warnings)
			}
			if got := journal.Count("level=INFO"); got != step.relief {
				t.Errorf("policy %q: told %d times that all is well again, want %d", step.policy, got, step.relief)
			}
		}
		if got := journal.Count("maxmemory-policy=volatile-ttl"); got != 1 {
			t.Errorf("the policy is named %d times, want once:\n%s", got, &journal)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("got %v, want none at the end", err)
		}
	})
}
