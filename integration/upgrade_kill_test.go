package integration

import "testing"

// A berth is killed while it holds calls: another one ends their tasks, and says that the
// tools may have run. What had ended before stays as it was.
func TestTasksOfAKilledBerthEndOnTheOthers(t *testing.T) {
	t.Parallel()
	h := startHolders(t, 2, sharedStore(t), "", heldRules)
	done := h.hold(t, h.berths[0], 5)
	for _, task := range done {
		h.tool.let(task.call)
	}
	other := h.berths[1:]
	h.awaitDone(t, other, done)
	held := h.hold(t, h.berths[0], 20)

	h.berths[0].kill()
	h.awaitLost(t, other, held, true)
	h.awaitDone(t, other, done)
	h.tool.wantNoneTwice(t)
}
