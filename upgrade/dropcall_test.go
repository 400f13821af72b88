package upgrade

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/upgrade/ledger"
)

// large is a call that is stored in pieces.
var large = strings.Repeat("a", 600<<10)

// callLeft returns what an engine still has of the call of a task: its head, or a piece.
func callLeft(t *testing.T, b *berth, id string) (left []string) {
	t.Helper()
	for _, op := range b.line.asked() {
		key, put := strings.CutPrefix(op, "put ")
		if !put || !strings.HasPrefix(key, ledger.CallKey(id)) {
			continue
		}
		if _, err := b.line.at.Load().Get(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
			left = append(left, key)
		}
	}
	return left
}

// dropped checks that the call of a task was stored, unless its holder alone needs it, that it goes with the task's end, and
// that only the head of it is left to see of its arguments.
func dropped(t *testing.T, b *berth, id string, end func()) {
	t.Helper()
	alone := b.ledger.Dies() && b.runner.Calls.Get(id) != nil
	if left := callLeft(t, b, id); alone != (len(left) < 4) {
		t.Fatalf("of the call of a live task is stored: %v, its holder alone needs it: %v", left, alone)
	}
	end()
	if v := b.see(t, id); !v.State.Terminal() {
		t.Fatalf("the task is %s", v.State)
	}
	if left := callLeft(t, b, id); len(left) > 0 {
		t.Errorf("the task has ended, and of its call there is still %v", left)
	}
}

// 52 calls of 4 MB that the upstream refused stopped a berth for everybody: their arguments
// stayed for the task's life.
func TestCallGoesWithTheTasksEnd(t *testing.T) {
	for name, url := range map[string]string{"memory": "memory:", "file": "file:" + filepath.Join(t.TempDir(), "berth.db")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, url, storage.Options{})
				defer store.Close()
				b := startBerths(t, 1, settings{at: newCell(store)}, newTool())[0]
				defer b.kill()
				b.line.note()
				cancel := func(id string) func() {
					return func() {
						if _, err := b.Steps.Cancel(t.Context(), id, somebody); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
					}
				}
				wait := func() { time.Sleep(11 * time.Minute) }
				for _, does := range []string{"result/1s", "error/1s", "break/1s", "hang"} {
					id := b.hand(t, rule(nil), "call "+does+" "+large)
					synctest.Wait()
					dropped(t, b, id, wait)
				}
				for _, does := range []string{"hang", "ask:k hang"} {
					id := b.hand(t, rule(nil), "call "+does+" "+large)
					synctest.Wait()
					dropped(t, b, id, cancel(id))
				}
				b.hand(t, rule(queueing), "first hang")
				synctest.Wait()
				id := b.hand(t, rule(queueing), "queued hang "+large)
				synctest.Wait()
				dropped(t, b, id, cancel(id))
				outlived := b.hand(t, rule(func(r *Rule) { r.TTL = 5 * time.Second }), "call hang "+large)
				synctest.Wait()
				dropped(t, b, outlived, func() {
					time.Sleep(5*time.Second + time.Millisecond)
					synctest.Wait()
				})
				last := b.hand(t, rule(nil), "call hang "+large)
				synctest.Wait()
				dropped(t, b, last, func() {
					over, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					b.Drain(over)
				})
			})
		})
	}
}

func TestCallGoesFromRedis(t *testing.T) {
	store := openStore(t, redistest.Start(t).URL(), storage.Options{})
	defer store.Close()
	b := startBerths(t, 1, settings{at: newCell(store)}, newTool())[0]
	defer b.kill()
	b.line.note()
	for range 3 {
		id := b.hand(t, rule(nil), "call error "+large)
		b.runner.Calls.Empty(t.Context())
		if left := callLeft(t, b, id); len(left) > 0 {
			t.Errorf("the task has ended, and of its call there is still %v", left)
		}
	}
}

// A call that nobody can go on with goes with its holder.
func TestCallOfAnOrphanGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(2 * testLease)
		berths[0].line.note()
		id := berths[0].hand(t, rule(nil), "call hang "+large)
		synctest.Wait()
		berths[0].kill()
		time.Sleep(graceful + testLease)
		berths[1].mustState(t, id, Failed)
		if left := callLeft(t, berths[0], id); len(left) > 0 {
			t.Errorf("the task has ended, and of its call there is still %v", left)
		}
	})
}

// What a call asked is told apart by its digest when its arguments are gone.
func TestKeyOfAnEndedTaskTellsCallsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		h, _, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "call result"), "key", nil)
		if err != nil {
			t.Fatal(err)
		}
		h.Start(nil)
		synctest.Wait()
		if _, earlier, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "call result"), "key", nil); err != nil || earlier.ID != h.ID {
			t.Errorf("the repetition is task %s (%v), want %s", earlier.ID, err, h.ID)
		}
		if _, _, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "another result"), "key", nil); !errors.Is(err, ErrKeyReused) {
			t.Errorf("another call under the key: got %v, want ErrKeyReused", err)
		}
	})
}

// A berth that dies while it cancels a task that nobody holds leaves nothing of the call to a
// task that has ended.
func TestCallGoesThoughWhoeverCancelledDies(t *testing.T) {
	const points = 10 // more operations than a cancel needs
	for point := 1; point <= points; point++ {
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				berths := startBerths(t, 3, settings{}, newTool())
				time.Sleep(2 * testLease)
				berths[0].line.note()
				id := berths[0].hand(t, rule(nil), "call ask:k result "+large)
				synctest.Wait()
				died := make(chan struct{})
				berths[1].line.died = sync.OnceFunc(func() { close(died) })
				berths[1].line.burn(point, after)
				_, _ = berths[1].Steps.Cancel(t.Context(), id, somebody)
				<-died
				berths[1].kill()
				time.Sleep(graceful + testLease)
				v := berths[2].see(t, id)
				if left := callLeft(t, berths[0], id); v.State.Terminal() && len(left) > 0 {
					t.Errorf("point %d, after %v: the task is %s, and of its call there is still %v", point, after, v.State, left)
				}
				if listed := berths[2].members(t, berths[2].ledger.Lists.TasksOf(berths[1].ledger.Holder)); len(listed) > 0 {
					t.Errorf("point %d, after %v: listed are %v", point, after, listed)
				}
			})
		}
	}
}

// What the store does not remove at once goes when it takes that.
func TestCallGoesOnceTheStoreTakesThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 2, settings{}, newTool())[0]
		time.Sleep(2 * testLease)
		b.line.note()
		id := b.hand(t, rule(nil), "call result/1s "+large)
		synctest.Wait()
		b.line.refuse(func(op, key string) bool { return op == "delete" && strings.HasPrefix(key, ledger.CallKey(id)) })
		time.Sleep(2 * time.Second)
		b.mustState(t, id, Completed)
		if len(callLeft(t, b, id)) == 0 {
			t.Fatal("the call is gone already")
		}
		b.line.refuse(nil)
		time.Sleep(testLease)
		if left := callLeft(t, b, id); len(left) > 0 {
			t.Errorf("of the call there is still %v", left)
		}
	})
}
