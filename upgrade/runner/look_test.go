package runner

import (
	"context"
	"testing"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// The record of a task that has ended may be lost before its holder lets go of it: it is put back, and does not
// count as live again.
func TestTaskThatIsPutBackEndedIsNotLive(t *testing.T) {
	for state, live := range map[task.State]int{task.Completed: 0, task.Dispatched: 1} {
		r, ctx := newRunnerOn(t, memory(t)), context.Background()
		lost := &task.Task{ID: "a", Pool: "p", Principal: "alice", Holder: r.ledger.Holder, State: state, Created: time.Now(), Terms: task.Terms{TTL: time.Hour}}
		h := r.newHeld(ledger.Entry{Task: lost}, &task.Call{Body: []byte(`{}`)})
		if err := h.look(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ledger.Records.Get(ctx, lost.ID); err != nil {
			t.Errorf("%s: it was not put back: %v", state, err)
		}
		if listed, err := r.ledger.Store.Members(ctx, r.ledger.Lists.LiveOf("p", "alice")); err != nil || len(listed) != live {
			t.Errorf("%s: %q are live, %v", state, listed, err)
		}
	}
}
