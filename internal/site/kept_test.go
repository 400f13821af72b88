package site

import (
	"testing"

	"berth/internal/config"
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
