package upgrade

import (
	"berth/upgrade/queues"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
)

// crashPoints are more operations than a berth needs for a task with one question.
const crashPoints = 36

// TestEveryCrashPoint has a berth die before and after each operation of a task's life,
// and another one see to what is left: beside it on a shared store, in its place on a
// file. The task ends, or waits for its client; the tool runs once; nothing is left over.
func TestEveryCrashPoint(t *testing.T) {
	t.Parallel()
	everyCrashPoint(t, crashPoints, dieAt)
}

// everyCrashPoint has dies end a berth at each of that many operations.
func everyCrashPoint(t *testing.T, points int, dies func(t *testing.T, s settings, point int, after bool)) {
	for _, engine := range []string{"memory", "file"} {
		t.Run(engine, func(t *testing.T) {
			for point := 1; point <= points; point++ {
				for _, after := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) {
						url := "memory:"
						if engine == "file" {
							url = "file:" + filepath.Join(t.TempDir(), "berth.db")
						}
						store := openStore(t, url, storage.Options{})
						t.Cleanup(func() { _ = store.Close() })
						s := settings{at: newCell(store), keys: givenKeys(t), shared: engine == "memory"}
						dies(t, s, point, after)
					})
				}
			}
		})
	}
}

func dieAt(t *testing.T, s settings, point int, after bool) {
	t.Helper()
	up := newTool()
	b := newBerth(s, up)
	died := make(chan struct{})
	b.line.died = func() { close(died) }
	b.run()
	t.Cleanup(b.kill)
	time.Sleep(testLease / 2)
	b.line.burn(point, after)
	id := ""
	r := rule(func(r *Rule) { r.Concurrency, r.LivePerPrincipal = 1, 1 })
	if h, err := b.Maker.Create(t.Context(), creation(r, "call ask:k result/1s")); err == nil {
		h.Start(nil)
		_ = h.HandOut(func() error { // it fails as this does
			if !b.line.isDead() {
				id = h.ID
			}
			return nil
		})
		h.Handed()
		time.Sleep(100 * time.Millisecond)
		_ = b.Steps.Update(t.Context(), id, somebody, inputs("k", "1"), &Envelope{Bare: true})
	}
	select {
	case <-died:
	case <-time.After(20 * time.Second):
		t.Fatalf("point %d was not reached in 20 s", point)
	}
	b.clear()
	adopter := newBerth(s, up)
	if err := adopter.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	adopter.run()
	t.Cleanup(adopter.kill)
	time.Sleep(graceful + 5*time.Second)
	where := fmt.Sprintf("point %d, after %v", point, after)
	if id != "" {
		v := adopter.see(t, id)
		if !v.State.Terminal() && v.State != InputRequired {
			t.Errorf("%s: the task is %s", where, v.State)
		}
		if v.wasLostUnsent() {
			t.Errorf("%s: the task was handed out and not sent, and is lost: %s", where, v.Outcome)
		}
	}
	for stage := range 2 {
		if n := up.times("call", stage); n > 1 {
			t.Errorf("%s: ran %d times in stage %d", where, n, stage)
		}
	}
	queue := r.Terms(poolName).Queue
	for _, list := range []string{adopter.ledger.Lists.TasksOf(b.ledger.Holder), adopter.ledger.Lists.TasksOf(adopter.ledger.Holder), queues.WaitingIn(queue), adopter.ledger.Lists.SlotsOf(queue, "u")} {
		if left := adopter.members(t, list); len(left) > 0 {
			t.Errorf("%s: %s still has %v", where, list, left)
		}
	}
}
