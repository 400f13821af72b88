package limit

import (
	"testing"
	"time"

	"berth/internal/realtest"
)

// The memory is looked at though the machine's clock was set back, or on.
func TestMemoryIsLookedAtThoughTheClockWasSet(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		share := 1.0
		m := NewMemoryOf(800, func() float64 { return share })
		if !m.Short() || !m.Out() {
			t.Fatal("there is room where there is none")
		}
		m.began = realtest.SetBack(m.began, by)
		share = 0
		realtest.Eventually(t, "there is room", func() bool { return !m.Short() && !m.Out() })
		share = 1
		realtest.Eventually(t, "there is none", func() bool { return m.Short() && m.Out() })
	}
}
