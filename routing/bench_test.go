package routing_test

import (
	"testing"

	"berth/internal/mcp"
)

// BenchmarkPick chooses an upstream for unbound work, and gives it back.
func BenchmarkPick(b *testing.B) {
	pool := poolOf("a", "b", "c")
	b.ReportAllocs()
	for b.Loop() {
		lease, err := pool.Pick(mcp.EraModern, "", nil)
		if err != nil {
			b.Fatal(err)
		}
		lease.Release()
	}
}
