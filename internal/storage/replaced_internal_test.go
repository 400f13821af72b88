package storage

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"
	"berth/internal/storage/memory"
)

// parted is an engine on one server at a time, which takes no writes.
type parted struct {
	*memory.Engine
	server string
}

func (p *parted) Part(string) string { return p.server }

func (p *parted) Parts(context.Context) (map[string]func(context.Context) error, error) {
	return map[string]func(context.Context) error{p.server: p.Ping}, nil
}

func (p *parted) Put(context.Context, string, []byte, time.Duration) error {
	return &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM, Refusal: true}
}

// That a server of a cluster refuses writes is told though the one before it, which has been replaced, did so to its end.
func TestAServerThatTakesTheOthersPlaceIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		on := &parted{memory.New(), "old"}
		s := &Store{engine: on, health: health.New(slog.New(slog.NewTextHandler(&log, nil)), true), metrics: newMetrics(nil, nil)}
		s.breakers = breaker.New(s.health, breaker.Traffic{Alone: 1, Timeout: time.Second})
		for _, server := range []string{"old", "new"} {
			on.server = server
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = s.Put(t.Context(), "k", nil, 0)
			time.Sleep(2 * time.Minute)
		}
		if got := log.Count("store refuses writes"); got != 2 {
			t.Errorf("told %d times, want 2:\n%s", got, log.String())
		}
	})
}
