package routing_test

import (
	"testing"

	"berth/internal/mcp"
	"berth/internal/storage/storagetest"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"
)

// BenchmarkPick chooses an upstream for unbound work, and gives it back.
func BenchmarkPick(b *testing.B) {
	pool := poolOf("a", "b", "c")
	b.ReportAllocs()
	for b.Loop() {
		lease, err := pool.Pick(routing.Work{Era: mcp.EraModern}, nil)
		if err != nil {
			b.Fatal(err)
		}
		lease.Release()
	}
}

// benchedRouter has a, b and c, and one task, which is a's.
func benchedRouter(b *testing.B) *routing.Router {
	store := storagetest.OpenMemory(b)
	pool := poolOf("a", "b", "c")
	r := &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: sticky.New(store, sticky.Options{Near: 100})}, Asker: routing.NewAsker(pool)}
	if err := r.Bind(b.Context(), r.TaskKey("", "task"), sticky.Binding{Upstream: "a"}, 0); err != nil {
		b.Fatal(err)
	}
	return r
}

func benchmarkDecide(b *testing.B, call mcp.Call) {
	r := benchedRouter(b)
	q := routing.Query{Calls: []mcp.Call{call}}
	var d routing.Decision
	b.ReportAllocs()
	for b.Loop() {
		d = routing.Decision{}
		if err := r.Decide(b.Context(), &q, &d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecidePoll finds the owner of a task that is known.
func BenchmarkDecidePoll(b *testing.B) { benchmarkDecide(b, modern("tasks/get", "task")) }

// BenchmarkDecideToolCall finds that a call is for anybody.
func BenchmarkDecideToolCall(b *testing.B) {
	benchmarkDecide(b, mcp.Call{Method: "tools/call", Era: mcp.EraModern, Kind: mcp.KindRequest})
}
