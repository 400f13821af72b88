package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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

// What was put back after a process stood still is put back after the next flush too.
func TestWhatWasPutBackIsPutBackAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ctx := memory(t), t.Context()
		r := newRunnerOn(t, store)
		held := &task.Task{ID: "a", Pool: "p", Holder: r.ledger.Holder, State: task.Dispatched, Created: time.Now(), Terms: task.Terms{TTL: time.Hour}}
		renew := func() {
			if err := r.ledger.Lease.Renew(ctx); err != nil && !errors.Is(err, ledger.ErrLeaseLost) {
				t.Fatal(err)
			}
		}
		renew()
		h := r.Hold(ledger.Entry{Task: held}, &task.Call{Body: []byte(`{}`)})
		defer h.end(nil)
		for n, asleep := range []time.Duration{2 * time.Minute, time.Second} {
			time.Sleep(time.Second)
			if err := errors.Join(store.Delete(ctx, "upgrade:epoch"), store.Delete(ctx, ledger.TaskKey("a")), r.ledger.Epoch.Check(ctx)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(asleep)
			renew()
			if err := h.look(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := r.ledger.Records.Get(ctx, "a"); err != nil {
				t.Errorf("after flush %d: %v", n, err)
			}
		}
	})
}
