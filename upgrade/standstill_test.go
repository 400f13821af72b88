package upgrade

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
)

// What was flushed while its holder's lease stood nobody else went on with: the holder puts it back when it goes on, however
// long it stood still, with what its calls have returned. While it may be expected back, others call nothing unknown.
func TestFrozenHolderPutsBackWhatWasFlushedWithinItsLease(t *testing.T) {
	for name, stands := range map[string]time.Duration{"for as long as it is awaited": testLease * 3 / 2, "for longer": 10 * testLease} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up, at := newTool(), newCell(memory(t))
				berths := startBerths(t, 2, settings{at: at}, up)
				frozen, other := berths[0], berths[1]
				time.Sleep(2*testLease + testLease/6)
				ends := frozen.hand(t, rule(nil), "ends result/1s")
				held, _, err := frozen.Maker.CreateOnce(t.Context(), creation(rule(nil), "runs result/1m"), "key", nil)
				if err != nil {
					t.Fatal(err)
				}
				held.Start(nil)
				runs := handle(held)
				synctest.Wait()
				frozen.line.freeze()
				at.Store(memory(t))
				for flushed := time.Now(); time.Since(flushed) < stands; time.Sleep(testLease / 10) {
					if time.Since(flushed) > testLease*3/2 {
						continue
					}
					if _, err := other.Reader.Get(t.Context(), runs, somebody); !errors.Is(err, storage.ErrUnavailable) {
						t.Fatalf("after %v the task is %v, want that nobody can say", time.Since(flushed), err)
					}
					if _, _, err := other.Maker.CreateOnce(t.Context(), creation(rule(nil), "runs result/1m"), "key", nil); !errors.Is(err, storage.ErrUnavailable) {
						t.Fatalf("after %v its key is taken: %v", time.Since(flushed), err)
					}
				}
				frozen.line.thaw()
				time.Sleep(testLease / 2)
				for _, b := range berths {
					b.mustState(t, ends, Completed)
					b.mustState(t, runs, Dispatched)
				}
				time.Sleep(2 * time.Minute)
				for _, b := range berths {
					b.mustState(t, runs, Completed)
				}
			})
		})
	}
}

// A berth that a flush found dead is awaited until it would have been found dead without one.
func TestADeadBerthIsNotAwaitedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, newTool())
		time.Sleep(2*testLease + testLease/6)
		id := berths[0].hand(t, rule(nil), "call hang")
		synctest.Wait()
		berths[0].kill()
		at.Store(memory(t))
		flushed := time.Now()
		for {
			_, err := berths[1].Reader.Get(t.Context(), id, somebody)
			if errors.Is(err, ledger.ErrUnknown) {
				break
			}
			if !errors.Is(err, storage.ErrUnavailable) || time.Since(flushed) > 2*testLease {
				t.Fatalf("after %v: %v", time.Since(flushed), err)
			}
			time.Sleep(testLease / 10)
		}
		if waited := time.Since(flushed); waited < testLease {
			t.Errorf("it is called unknown after %v, while its lease would have stood", waited)
		}
	})
}

// What others may have ended before it was flushed its holder does not put back: it ends the call, and nobody goes on saying
// that it works.
func TestFrozenHolderEndsWhatItDoesNotPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, at := newTool(), newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, up)
		time.Sleep(2*testLease + testLease/6)
		id := berths[0].hand(t, rule(nil), "call hang")
		synctest.Wait()
		berths[0].line.freeze()
		time.Sleep(2 * graceful)
		berths[1].mustState(t, id, Failed)
		at.Store(memory(t))
		berths[0].line.thaw()
		time.Sleep(2 * testLease)
		for n, b := range berths {
			if v, err := b.Reader.Get(t.Context(), id, somebody); !errors.Is(err, ledger.ErrUnknown) {
				t.Errorf("berth %d says %s, %v", n, v.State, err)
			}
		}
		if up.inflight()+berths[0].Held() > 0 {
			t.Errorf("%d are under way, %d are held", up.inflight(), berths[0].Held())
		}
	})
}
