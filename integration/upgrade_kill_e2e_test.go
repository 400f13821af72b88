//go:build e2e

package integration

import (
	"math/rand/v2"
	"testing"

	"berth/internal/storage/redistest"
)

// E2: the upstream has answered, and the berth dies before it could store that. The task
// fails, and the tool is not run again.
func TestTaskFailsWhoseHolderDiesWithTheResult(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", heldRules)
	cut, relay := h.startBehindRelay(t, redis)
	other := h.start(t)
	held := h.hold(t, cut, 10)

	relay.Drop.Store(true)
	h.tool.letAll()
	if !await(t, readyWithin, func() bool { return h.tool.finished() == len(held) }) {
		t.Fatal("the tool did not answer")
	}
	cut.kill()
	h.awaitLost(t, []*watched{other}, held, true)
	h.tool.wantNoneTwice(t)
}

// E3: an outcome that anybody was shown does not depend on who stored it.
func TestResultOutlivesTheBerthThatStoredIt(t *testing.T) {
	t.Parallel()
	h := startHolders(t, 3, sharedStore(t), "", heldRules)
	held := h.hold(t, h.berths[0], 20)
	h.tool.letAll()
	h.awaitEach(t, h.berths[1:2], held[:1], "completed", func(_ heldTask, s seen) bool { return s.Status == "completed" })
	h.berths[0].kill()
	ended := func(_ heldTask, s seen) bool { return s.Status == "completed" || s.lost(true) }
	h.awaitEach(t, h.berths[1:], held, "completed or failed as holder_lost", ended)
	h.awaitDone(t, h.berths[1:], held[:1])
	h.wantOneEnd(t, h.berths[1:], held)
	h.tool.wantNoneTwice(t)
}

// Berths die at random moments of many tasks: while they are made, sent, answered and
// stored. Each task ends, once, and the same everywhere.
func TestEachTaskEndsOnceWheneverItsHolderDies(t *testing.T) {
	t.Parallel()
	const rounds, each = 4, 25
	h := startHolders(t, 1, sharedStore(t), "", heldRules)
	witness := h.berths[0]
	h.tool.letAll()
	var all []heldTask
	for range rounds {
		victim := h.start(t)
		made := make(chan heldTask, each)
		go func() {
			defer close(made)
			h.makeWhileItLives(t, victim, each, made)
		}()
		lives := 1 + rand.IntN(each)
		for task := range made {
			all = append(all, task)
			if lives--; lives == 0 {
				victim.kill()
			}
		}
		victim.kill()
	}
	t.Logf("%d tasks", len(all))
	// A rule says nothing of whether the tool ran where the client has the handle: both
	// ends are right, unless nothing was sent.
	h.awaitEach(t, []*watched{witness}, all, "ended", func(task heldTask, s seen) bool {
		switch {
		case s.Status == "completed":
			return string(s.Result) == h.tool.result(task.call)
		case s.lost(false):
			return h.tool.ran(task.call) == 0
		}
		return s.lost(true)
	})
	h.wantOneEnd(t, []*watched{witness, h.start(t)}, all)
	h.tool.wantNoneTwice(t)
}
