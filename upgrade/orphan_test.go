package upgrade

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/realtest"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/places"
	"berth/upgrade/task"
)

// graceful is when the tasks of a dead holder have been seen to, at the latest: its lease
// runs out, and is missed twice.
const graceful = testLease + 3*testLease/3

// A call that was sent fails with its holder, and says that the tool may have run; where
// the operator knows that it may run twice, it does.
func TestSentCallOfADeadHolder(t *testing.T) {
	for name, c := range map[string]struct {
		policy OrphanPolicy
		runs   int
	}{"fail": {task.OrphanFail, 1}, "rerun": {task.OrphanRerun, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				berths := startBerths(t, 2, settings{}, up)
				time.Sleep(time.Second)
				id := berths[0].hand(t, rule(func(r *Rule) { r.OnOrphan = c.policy }), "call hang")
				synctest.Wait()
				berths[0].kill()
				time.Sleep(graceful)
				synctest.Wait()
				if n := up.times("call", 0); n != c.runs {
					t.Errorf("ran %d times", n)
				}
				if c.policy == task.OrphanRerun {
					berths[1].mustState(t, id, Dispatched)
					return
				}
				f := berths[1].see(t, id).failure(t)
				if f.Code != mcp.CodeInternal || f.Data.Reason != mcp.ReasonHolderLost || f.Data.MayHaveExecuted == nil || !*f.Data.MayHaveExecuted {
					t.Errorf("got %+v", f)
				}
			})
		})
	}
}

// Who reads of a berth's death learns which one it was, by the name in that berth's own log,
// and whose work it held.
func TestDeathOfAHolderSaysWhatItHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		berths := startBerths(t, 2, settings{log: slog.New(slog.NewTextHandler(&log, nil))}, newTool())
		time.Sleep(time.Second)
		berths[0].hand(t, rule(nil), "call hang")
		berths[0].hand(t, rule(nil), "call hang")
		synctest.Wait()
		berths[0].kill()
		time.Sleep(graceful)
		synctest.Wait()
		want := "holder=" + berths[0].Holder() + " tasks=2 tools=[work] pools=[" + poolName + "]"
		if got := log.String(); strings.Count(got, want) != 1 {
			t.Errorf("got %s, want one line with %s", got, want)
		}
	})
}

// A call that was not sent is gone on with by a berth that has the credentials for it, as
// long as its client has the handle, or may get it.
func TestUnsentCallOfADeadHolder(t *testing.T) {
	for name, c := range map[string]struct {
		stored, own, bare, unhanded bool
		key                         string
		goesOn                      bool
		says                        string
	}{
		"sealed credentials": {goesOn: true},
		"berth's own":        {stored: true, own: true, goesOn: true},
		"none needed":        {stored: true, bare: true, goesOn: true},
		"credentials lost":   {stored: true, says: "no other one has the credentials"},
		"never handed out":   {unhanded: true, says: "did not run"},
		"found by its key":   {unhanded: true, key: "k", goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				s := settings{at: newCell(memory(t)), own: c.own}
				if c.stored {
					s.keys = seal.NewStoredKeyring(s.at.Load())
				}
				berths := startBerths(t, 2, s, up)
				time.Sleep(time.Second)
				call := creation(rule(nil), "call result")
				call.Call.Bare = c.bare
				create := berths[0].Maker.Create
				if c.key != "" {
					create = func(ctx context.Context, call Creation) (*Held, error) {
						h, _, err := berths[0].Maker.CreateOnce(ctx, call, c.key, nil)
						return h, err
					}
				}
				h, err := create(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if !c.unhanded {
					handle(h)
				}
				berths[0].line.die()
				h.Discard()
				berths[0].clear()
				time.Sleep(graceful)
				synctest.Wait()
				v := berths[1].see(t, h.Task().ID)
				switch {
				case c.goesOn && v.State != Completed:
					t.Errorf("the task is %s: %s", v.State, v.Outcome)
				case !c.goesOn && (*v.failure(t).Data.MayHaveExecuted || !strings.Contains(v.Message, c.says)):
					t.Errorf("got %s", v.Outcome)
				}
				if want := map[bool]int{true: 1}[c.goesOn]; up.times("call", 0) != want {
					t.Errorf("ran %d times, want %d", up.times("call", 0), want)
				}
				if c.goesOn && name == "sealed credentials" && up.sent(0).headers["Authorization"][0] != "Bearer of the caller" {
					t.Errorf("sent with %v", up.sent(0).headers)
				}
			})
		})
	}
}

// A lease that is missing once proves nothing, nor does one that is missing while the store
// is not well, or has not been for long.
func TestHolderIsNotTakenForDeadByMistake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(time.Second)
		id := berths[0].hand(t, rule(nil), "call hang")
		time.Sleep(testLease + berths[0].ledger.Epoch.Beat()/2)
		lose := func() {
			if err := berths[1].line.at.Load().Delete(t.Context(), berths[0].ledger.Lists.LeaseOf(berths[0].ledger.Holder)); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 { // each time found missing by one tick, and put back by the next beat
			lose()
			time.Sleep(2 * berths[0].ledger.Epoch.Beat())
		}
		berths[0].mustState(t, id, Dispatched)
		for range 3 { // an outage outlives all leases
			for _, b := range berths {
				b.line.cut()
			}
			time.Sleep(4 * testLease)
			berths[1].line.mend()
			time.Sleep(testLease - time.Millisecond)
			berths[0].line.mend()
			time.Sleep(time.Second)
			berths[0].mustState(t, id, Dispatched)
		}
		if up.times("call", 0) != 1 || up.inflight() != 1 {
			t.Errorf("ran %v, %d under way", up.all(), up.inflight())
		}
	})
}

// A holder that was frozen past its lease finds that its task has ended, ends the call,
// and what that still returns is dropped. It can take on tasks again.
func TestFrozenHolderComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(time.Second)
		ends := berths[0].hand(t, rule(nil), "ends result/1s")
		hangs := berths[0].hand(t, rule(nil), "hangs hang")
		synctest.Wait()
		berths[0].line.freeze()
		time.Sleep(2 * graceful)
		before := berths[1].mustState(t, ends, Failed)
		berths[0].line.thaw()
		time.Sleep(testLease)
		if after := berths[0].mustState(t, ends, Failed); string(after.Outcome) != string(before.Outcome) {
			t.Errorf("ended as %s and as %s", before.Outcome, after.Outcome)
		}
		berths[0].mustState(t, hangs, Failed)
		if up.inflight()+berths[0].Held() > 0 {
			t.Errorf("%d are under way, %d are held", up.inflight(), berths[0].Held())
		}
		if _, err := storage.GetBlob(t.Context(), berths[0].line.at.Load(), ledger.CallKey(ends)); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the call of a task that has ended: got %v, want that it is gone", err)
		}
		id := berths[0].hand(t, rule(nil), "again hang")
		synctest.Wait()
		berths[0].kill()
		time.Sleep(graceful)
		berths[1].mustState(t, id, Failed) // it was listed as a holder again
	})
}

// Who slept past its lease puts nothing back that a flush has taken: another berth may
// have run the tool.
func TestFrozenHolderPutsNothingBackAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		at := newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, up)
		time.Sleep(testLease)
		busy := berths[1].hand(t, rule(queueing), "busy hang")
		synctest.Wait()
		id := berths[0].hand(t, rule(queueing), "call result")
		synctest.Wait()
		berths[0].line.freeze()
		time.Sleep(2 * graceful)
		if _, err := berths[1].Steps.Cancel(t.Context(), busy, somebody); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * places.Every)
		berths[1].mustState(t, id, Completed)
		at.Store(memory(t))
		berths[0].line.thaw()
		time.Sleep(time.Minute)
		if n := up.times("call", 0); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
}

// One record that cannot be read does not keep the others from being seen to.
func TestReaperPassesOverWhatItCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(time.Second)
		spoilt := berths[0].hand(t, rule(nil), "one hang")
		id := berths[0].hand(t, rule(nil), "two hang")
		synctest.Wait()
		if err := berths[0].line.at.Load().Put(t.Context(), ledger.TaskKey(spoilt), []byte("?"), time.Hour); err != nil {
			t.Fatal(err)
		}
		berths[0].kill()
		time.Sleep(graceful)
		berths[1].mustState(t, id, Failed)
	})
}

// An answer that is stored and not acknowledged makes its taker the holder: it goes on
// with the task once it knows, and fails nothing for lack of the credentials it has.
func TestAnswerThatIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		up := newTool()
		berths := startBerths(t, 2, settings{at: at, keys: seal.NewStoredKeyring(at.Load())}, up)
		time.Sleep(testLease / 2)
		id := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		b := berths[1]
		writes := 0
		b.line.muteOne(func() bool { writes++; return writes == 3 })
		if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", "1"), &Envelope{}); !errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("got %v: the third write is not the answer's any more", err)
		}
		time.Sleep(testLease)
		b.mustState(t, id, Completed)
		if up.times("call", 1) != 1 {
			t.Errorf("ran %v", up.all())
		}
	})
}

// After a flush no live task is called unknown: nobody can say, until its holder has put
// it back.
func TestFlushedTaskIsNotUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, newTool())
		time.Sleep(testLease)
		id := berths[0].hand(t, rule(func(r *Rule) { r.LivePerPrincipal = 1 }), "call result/10s")
		synctest.Wait()
		at.Store(memory(t))
		// Before the holder is asked: then it puts the task back at once, and the cancel may find it.
		if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a cancel: got %v, want ErrUnavailable", err)
		}
		for _, b := range berths {
			if v, err := b.Reader.Get(t.Context(), id, somebody); errors.Is(err, ErrUnknown) || err == nil && v.State != Dispatched {
				t.Errorf("got %s, %v", v.State, err)
			}
		}
		time.Sleep(testLease)
		berths[1].mustState(t, id, Dispatched)
		if _, err := berths[1].Reader.Get(t.Context(), strings.Repeat("x", 39), somebody); !errors.Is(err, ErrUnknown) {
			t.Errorf("what never was: got %v, want ErrUnknown", err)
		}
		time.Sleep(10 * time.Second)
		berths[1].mustState(t, id, Completed)
	})
}

// What a berth holds it knows, whatever the store says: a fail-over may take a single record.
func TestHeldTaskIsKnownToItsHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		time.Sleep(testLease)
		id := b.hand(t, rule(nil), "call result/10s")
		synctest.Wait()
		if err := b.line.at.Load().Delete(t.Context(), ledger.TaskKey(id)); err != nil {
			t.Fatal(err)
		}
		b.mustState(t, id, Dispatched)
		time.Sleep(11 * time.Second)
		b.mustState(t, id, Completed)
	})
}

// A fail-over may throw a record back behind what its holder did: the holder puts it
// right, with its next step at the latest.
func TestRecordThatFellBackIsPutRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(time.Second)
		h, err := berths[0].Maker.Create(t.Context(), creation(rule(nil), "call result/5s"))
		if err != nil {
			t.Fatal(err)
		}
		id := h.Task().ID
		before := h.Standing()
		h.Start(nil)
		synctest.Wait()
		store := berths[0].line.at.Load()
		if err := store.Delete(t.Context(), ledger.TaskKey(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := berths[0].ledger.Records.Create(t.Context(), before.Task, time.Hour); err != nil {
			t.Fatal(err)
		}
		berths[1].mustState(t, id, task.Accepted)
		time.Sleep(6 * time.Second)
		berths[1].mustState(t, id, Completed)
		if up.times("call", 0) != 1 {
			t.Errorf("ran %v", up.all())
		}
	})
}

// A failure after a dispatch that was not acknowledged is no late one.
func TestGivenUpDispatchEndsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(testLease / 2)
		h, err := b.Maker.Create(t.Context(), creation(rule(func(r *Rule) { r.Timeout = 5 * time.Second }), "call result"))
		if err != nil {
			t.Fatal(err)
		}
		handle(h)
		b.line.mutes(1)
		h.Start(nil)
		synctest.Wait()
		b.line.cut()
		time.Sleep(10 * time.Second)
		b.line.mend()
		time.Sleep(10 * time.Second)
		if f := b.see(t, h.Task().ID).failure(t); f.Data.Reason != mcp.ReasonTimeout {
			t.Errorf("got %+v", f)
		}
	})
}

// One of the store's servers may refuse all writes, and with them the lease of a berth that lives, while the others take what its calls
// would fail by: it is dead only once it could have renewed its lease.
func TestHolderThatCannotRenewItsLeaseIsNotDead(t *testing.T) {
	for after := range 10 {
		synctest.Test(t, func(t *testing.T) {
			berths := startBerths(t, 2, settings{}, newTool())
			time.Sleep(time.Second)
			id := berths[0].hand(t, rule(nil), "call hang")
			time.Sleep(testLease)
			full := func(op, key string) bool {
				return (op == "swap" || op == "make" || op == "put") && strings.Contains(key, "{"+berths[0].Holder()+"}")
			}
			for _, b := range berths {
				b.line.refuse(full)
			}
			time.Sleep(4*testLease + time.Duration(after)*testLease/10)
			for _, b := range berths {
				b.line.refuse(nil)
			}
			for range 4 {
				berths[1].mustState(t, id, Dispatched)
				time.Sleep(testLease)
			}
			berths[0].kill()
			time.Sleep(graceful)
			synctest.Wait()
			berths[1].mustState(t, id, Failed)
		})
	}
}
