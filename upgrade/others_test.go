package upgrade

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
)

// What was not sent is left, for a while, to who can send it: a berth of another deployment on the store, and one that knows of no
// upstream yet, do not end it.
func TestWhatWasNotSentIsLeftToWhoCanSendIt(t *testing.T) {
	for name, unable := range map[string]func(b *berth){
		"another deployment": func(b *berth) { b.runner.Pools.Set(nil) },
		"no upstream yet":    func(b *berth) { b.runner.Pools.Get(poolName).Routing.Replace(nil) },
	} {
		for _, comes := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					up, at, keys := newTool(), newCell(memory(t)), givenKeys(t)
					s := settings{at: at, keys: keys, shared: true}
					holder := startBerths(t, 1, s, up)[0]
					time.Sleep(2 * testLease)
					running := holder.hand(t, rule(queueing), "running hang")
					synctest.Wait()
					queued := holder.hand(t, rule(queueing), "queued result")
					synctest.Wait()
					other := startBerths(t, 1, s, up)[0]
					unable(other)
					time.Sleep(2 * testLease)
					holder.kill()
					time.Sleep(4 * testLease)
					other.mustState(t, running, Failed)
					other.mustState(t, queued, Queued)
					if comes {
						startBerths(t, 1, s, up)
					}
					time.Sleep(8 * testLease)
					switch v := other.see(t, queued); {
					case comes && v.State != Completed:
						t.Errorf("with one that can send it: %s", v.State)
					case !comes && name == "another deployment" && v.State != Failed:
						t.Errorf("where nobody can send it: %s", v.State)
					}
					if up.executed["queued 0"] > 1 {
						t.Errorf("it ran %d times", up.executed["queued 0"])
					}
				})
			})
		}
	}
}

// The key of a running task is not free because its store was flushed: until the holder has put it back, nobody makes another task.
func TestKeyOfARunningTaskIsNotFreeAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, at := newTool(), newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, up)
		time.Sleep(2 * testLease)
		held, _, err := berths[0].Maker.CreateOnce(t.Context(), creation(rule(nil), "call hang"), "key", nil)
		if err != nil {
			t.Fatal(err)
		}
		held.Start(nil)
		id := handle(held)
		synctest.Wait()
		at.Store(memory(t))
		for again := range 40 {
			b := berths[again%2]
			other, earlier, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "call hang"), "key", nil)
			switch {
			case errors.Is(err, storage.ErrUnavailable), errors.Is(err, ErrUnsettled), errors.Is(err, ledger.ErrUnknown):
			case err != nil:
				t.Fatal(err)
			case other != nil:
				t.Fatalf("after %d repetitions another task is made", again)
			case earlier.ID != id:
				t.Errorf("told of %s", earlier.ID)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if _, earlier, err := berths[1].Maker.CreateOnce(t.Context(), creation(rule(nil), "call hang"), "key", nil); err != nil || earlier.ID != id {
			t.Errorf("in the end: %+v, %v", earlier.Task, err)
		}
		time.Sleep(2 * testLease)
		if held, _, err := berths[1].Maker.CreateOnce(t.Context(), creation(rule(nil), "new result"), "another", nil); err != nil || held == nil {
			t.Errorf("another key: %v", err)
		} else {
			held.Discard()
		}
	})
}

// A store that was away and is the server that it was has lost no key: new ones are taken at once, however often that happens. What a server
// that comes in its place holds is not known before all holders had their time.
func TestKeysAreDoubtedOnlyWhereAnotherServerCame(t *testing.T) {
	for name, comes := range map[string]bool{"the same": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := newCell(memory(t))
				b := startBerths(t, 1, settings{at: at, shared: true}, newTool())[0]
				time.Sleep(2 * testLease)
				for n := range 4 {
					b.line.cut()
					time.Sleep(time.Second)
					if comes {
						at.Store(replica(t, at.Load()))
					}
					b.line.mend()
					synctest.Wait()
					held, _, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "new result"), fmt.Sprint("key-", n), nil)
					if comes != errors.Is(err, storage.ErrUnavailable) || !comes && err != nil {
						t.Errorf("after outage %d: %v", n, err)
					}
					if held != nil {
						held.Discard()
					}
				}
				time.Sleep(2 * testLease)
				held, _, err := b.Maker.CreateOnce(t.Context(), creation(rule(nil), "new result"), "later", nil)
				if err != nil {
					t.Fatalf("once nothing is in doubt: %v", err)
				}
				held.Discard()
			})
		})
	}
}

// replica is a store that has the epoch of another, and nothing else of it.
func replica(t *testing.T, of *storage.Store) *storage.Store {
	t.Helper()
	epoch, err := of.Get(t.Context(), "upgrade:epoch")
	if err != nil {
		t.Fatal(err)
	}
	s := memory(t)
	if _, _, err := s.PutIfAbsent(t.Context(), "upgrade:epoch", epoch.Value, 0); err != nil {
		t.Fatal(err)
	}
	return s
}
