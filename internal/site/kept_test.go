package site

import (
	"log/slog"
	"testing"

	"berth/internal/config"
	"berth/internal/storage/storagetest"
	"berth/upgrade"
)

// With memory: what tasks keep is a share of the memory limit; what held calls bear is
// wherever their tasks are kept.
func TestKeptBytesAreAShareOfTheMemory(t *testing.T) {
	const mib = 1 << 20
	limits := config.Default().Limits
	for name, c := range map[string]struct {
		memory   int64
		inMemory bool
		want     upgrade.Bounds
	}{
		"no limit":    {0, true, upgrade.Bounds{Bytes: 1024 * mib, BytesPerCaller: 512 * mib, Lent: 256 * mib}},
		"memory":      {256 * mib, true, upgrade.Bounds{Bytes: 64 * mib, BytesPerCaller: 32 * mib, Held: 64 * mib, HeldPerCaller: 32 * mib, Lent: 32 * mib}},
		"Redis":       {256 * mib, false, upgrade.Bounds{Bytes: 1024 * mib, BytesPerCaller: 512 * mib, Held: 64 * mib, HeldPerCaller: 32 * mib, Lent: 32 * mib}},
		"very little": {32 * mib, true, upgrade.Bounds{Bytes: 16 * mib, BytesPerCaller: 8 * mib, Held: 16 * mib, HeldPerCaller: 8 * mib, Lent: 4 * mib}},
	} {
		c.want.LentPerCaller = c.want.Lent / 2
		c.want.Tasks, c.want.TasksPerCaller = 100_000, 50_000
		if got := keptBounds(limits, c.memory, c.inMemory); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// So is what one caller's sessions keep, where that is in memory; it is bounded anew with each configuration.
func TestWhatSessionsKeepIsBounded(t *testing.T) {
	const mib = 1 << 20
	limits := config.Default().Limits
	for name, c := range map[string]struct {
		memory   int64
		inMemory bool
		want     int64
	}{"no limit": {0, true, 32 * mib}, "memory": {128 * mib, true, 16 * mib}, "much memory": {1024 * mib, true, 32 * mib}, "Redis": {128 * mib, false, 32 * mib}} {
		if got := keptSessions(limits, c.memory, c.inMemory); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	cfg := config.Default()
	cfg.Pools = []config.Pool{config.DefaultPool()}
	s, err := New(t.Context(), Store{Store: storagetest.OpenMemory(t)}, cfg, Observers{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(false)
	for _, most := range []config.Size{limits.KeptSessionsPerCaller, mib} {
		cfg.Limits.KeptSessionsPerCaller = most
		s.adapt(cfg)
		if !s.bindings.MakeRoom(t.Context(), "ann", int(most)-2048) || s.bindings.MakeRoom(t.Context(), "ann", int(most)) {
			t.Errorf("with %v one caller has more room, or less", most)
		}
	}
}
