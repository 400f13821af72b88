package polls

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/sticky"
)

// BenchmarkPut is a poll whose task was told of before, in the same words: of ten thousand, in turns, and of a principal,
// whose credentials are not digested.
func BenchmarkPut(b *testing.B) {
	s, c := NewStaleCache(0, 0), pollBy(b.Context(), "a")
	c.Principal = "p"
	message := []byte(`{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","status":"working","createdAt":"2026-07-28T10:30:00Z","ttlMs":3600000,"pollIntervalMs":1000}}`)
	var a mcp.Answer
	if err := a.PeekTo("t", message, false); err != nil {
		b.Fatal(err)
	}
	var keys []sticky.Key
	for i := range 10_000 {
		keys = append(keys, sticky.Key{Kind: sticky.Task, Pool: "main", Principal: "p", ID: fmt.Sprintf("786512e2-9e0d-44bd-8f29-%012d", i)})
		s.Put(c, nil, &keys[i], &a, time.Now())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Put(c, nil, &keys[i*7919%len(keys)], &a, time.Now())
	}
}

// BenchmarkAlone is a poll that nobody shares, from its beginning to its end.
func BenchmarkAlone(b *testing.B) {
	s, c := NewShared(slog.New(slog.DiscardHandler)), pollBy(b.Context(), "a")
	room, ctx := new(Poll), context.Background()
	answered := &Response{Status: wire.StatusOK, Says: &mcp.Answer{}, Last: true}
	b.ReportAllocs()
	for b.Loop() {
		lead, _, _ := s.Join(ctx, c, "u", room)
		lead.Complete(answered)
		lead.Release()
		lead.Free()
	}
}
