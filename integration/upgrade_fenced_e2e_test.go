//go:build e2e

package integration

import (
	"syscall"
	"testing"

	"berth/internal/storage/redistest"
)

// A holder freezes for longer than its lease, and its tasks are ended. When it wakes up,
// results that came meanwhile are dropped, calls that go on are ended, and every berth
// shows the same.
func TestFrozenHolderChangesNothingWhenItWakes(t *testing.T) {
	t.Parallel()
	h := startHolders(t, 2, sharedStore(t), "", heldRules)
	frozen, other := h.berths[0], h.berths[1]
	held := h.hold(t, frozen, 20)

	frozen.signal(t, syscall.SIGSTOP)
	h.awaitLost(t, []*watched{other}, held, true)
	for _, task := range held[:10] {
		h.tool.let(task.call)
	}
	if !await(t, readyWithin, func() bool { return h.tool.finished() == 10 }) {
		t.Fatal("the tool did not answer")
	}
	frozen.signal(t, syscall.SIGCONT)
	h.awaitHungUp(t, held[10:])
	if !await(t, readyWithin, func() bool { return frozen.late(t) > 0 }) {
		t.Error("outcomes that were dropped as late: got none")
	}
	h.wantOneEnd(t, h.berths, held)
	h.awaitLost(t, h.berths, held, true)
	h.tool.wantNoneTwice(t)
}

// E18: a holder is cut off from Redis for longer than its lease while others go on. They
// end its tasks; on its return it finds that out, and ends its calls.
func TestHolderThatWasCutOffEndsItsCallsOnItsReturn(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", heldRules)
	cut, relay := h.startBehindRelay(t, redis)
	others := []*watched{h.start(t), h.start(t)}
	held := h.hold(t, cut, 20)
	theirs := h.hold(t, others[0], 5)

	relay.Drop.Store(true)
	h.awaitLost(t, others, held, true)
	// It cannot know yet: to its own clients it says what it knows, or that it cannot say.
	h.awaitEach(t, []*watched{cut}, held[:1], "working", func(_ heldTask, s seen) bool { return s.Status == "working" })
	relay.Drop.Store(false)
	relay.Cut() // what was thrown away is missing from the connections that stood
	h.awaitHungUp(t, held)
	h.wantOneEnd(t, h.berths, held)

	h.tool.letAll()
	h.awaitDone(t, h.berths, theirs)
	if got := cut.late(t); got != 0 {
		t.Errorf("outcomes dropped as late: got %d, want none: the calls were ended", got)
	}
	h.tool.wantNoneTwice(t)
}

// awaitHungUp waits until the upstream has seen the caller leave each of the calls.
func (h *holders) awaitHungUp(t testing.TB, tasks []heldTask) {
	t.Helper()
	for _, task := range tasks {
		if !await(t, readyWithin, func() bool { return h.tool.hungUp(task.call) == 1 }) {
			t.Fatalf("%s goes on upstream, though its task has ended", task.call)
		}
	}
}
