package integration

import (
	"testing"
	"time"

	"berth/internal/realtest"
)

// await looks until done or the deadline is past, and tells which. It is for real
// processes only: what runs in this one is tested in fake time.
func await(t testing.TB, within time.Duration, done func() bool) bool {
	t.Helper()
	return realtest.Until(within, done)
}
