package upgrade

import (
	"context"
	"time"
)

// lastWords bounds how long the store may take to hear how calls ended that were cut.
const lastWords = 3 * time.Second

// StopCreating has Create refuse from now on, and no call be taken over from others.
func (t *Tasks) StopCreating() { t.runner.Calls.Close() }

// HandOver stops creating, and leaves the calls that another berth can go on with to it at once,
// until ctx ends: those that were not sent, and those whose stream can be resumed.
func (t *Tasks) HandOver(ctx context.Context) {
	t.StopCreating()
	t.peers.HandOver(ctx)
}

// Drain takes on no new tasks and waits for the calls that are held, until ctx ends. What
// is left then is cut: it fails, durably, or is left to another berth that can go on with
// it. Call it while Run goes on.
func (t *Tasks) Drain(ctx context.Context) {
	t.StopCreating()
	if !t.runner.Calls.Empty(ctx) {
		t.runner.Log.Warn("drain time is over, held calls are cut", "calls", t.Held())
		t.runner.Calls.CutAll()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		if !t.runner.Calls.Empty(limit) {
			t.runner.Log.Error("the ends of held calls could not be stored", "calls", t.Held())
		}
	}
	t.peers.AwaitAdopters(ctx)
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	t.ledger.Lease.Resign(limit)
}
