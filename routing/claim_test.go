package routing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/sticky"
)

// What a caller goes on using stays hers: the claim that keeps others from finding
// it by asking the fleet is extended with the binding.
func TestClaimsLiveAsLongAsWhatTheyGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "memory:")
		f.Principals, f.Recover = true, true
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Bindings.Run(ctx) }()
		defer func() { stop(); <-done }()

		poll := mcp.Call{Method: mcp.MethodGetTask, ID: []byte("1"), TaskID: "t", HasTaskID: true}
		key := f.TaskKey("alice", "t")
		if err := f.Bind(ctx, key, sticky.Binding{Upstream: "b"}, time.Hour); err != nil {
			t.Fatalf("Bind: %v", err)
		}
		f.give("t", "b")
		for range 6 {
			time.Sleep(30 * time.Minute)
			alice := f.query(poll)
			alice.Principal = "alice"
			d := routes(t, f.Router, alice, "b", sticky.SourceBound)
			f.Observe(key, d.TaskBinding(), sticky.Seen{At: time.Now(), Status: "working", TTL: time.Hour})
			synctest.Wait()
			mallory := f.query(poll)
			mallory.Principal = "mallory"
			if err := f.Decide(ctx, &mallory, new(routing.Decision)); !errors.Is(err, routing.ErrUnknownTask) {
				t.Fatalf("another principal: got %v, want %v", err, routing.ErrUnknownTask)
			}
		}
	})
}
